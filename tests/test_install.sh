#!/bin/sh
# An installed daedal works for a new user: header, shared and static library, pkg-config file, command.
set -u
if [ "$BUILD_KIND" = asan ]; then # a stranger's program has no sanitizer runtime
  echo "0 passed, 0 failed"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

try() { # try NAME COMMAND...
  name=$1
  shift
  if "$@" >"$folder/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $name"
    cat "$folder/log"
  fi
}

cat >"$folder/stranger.c" <<'END'
#include <daedal.h>
#include <string.h>

int main(void) {
  const char *text = "model M Real x(start = 1); equation der(x) = -x; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), "M.mo", NULL, NULL);
  int failed = !model || daedal_status_of(model) != DAEDAL_OK || strcmp(daedal_model_name(model), "M") != 0;
  daedal_options options = daedal_default_options();
  options.solver = "radau"; /* needs LAPACK */
  daedal_result *result = daedal_simulate(model, &options);
  failed |= daedal_status_of(result) != DAEDAL_OK;
  daedal_free(result);
  daedal_free(model);
  return failed;
}
END

# What is installed is what a plain `cmake --build` makes.
mkdir "$folder/tree"
try "configure" cmake -G Ninja -S "$SOURCE_DIR" -B "$folder/tree"
ninja -C "$folder/tree" -t commands all >"$folder/commands"
grep -o "\"$folder/tree/[^\"$]*\"" "$folder/tree/cmake_install.cmake" | tr -d '"' >"$folder/wanted"
try "the archive is installed" grep -q 'libdaedal[.]a$' "$folder/wanted"
while read -r file; do
  try "$file is made" sh -c "test -e $file || grep -q '[ /]$(basename "$file")\\b' $folder/commands"
done <"$folder/wanted"

prefix=$folder/usr
try "install" cmake --install "$BUILD_DIR" --prefix "$prefix"
library=$(dirname "$(find "$prefix" -name libdaedal.a)")
private=$(sed -n 's/^Libs.private: //p' "$library/pkgconfig/daedal.pc")
compile="cc -std=c99 -Wall -Wextra -Wpedantic -Werror -I$prefix/include $folder/stranger.c"
try "compile, shared" $compile -o "$folder/shared" -L"$library" -ldaedal
try "run, shared" env LD_LIBRARY_PATH="$library" "$folder/shared"
try "compile, static" $compile -o "$folder/static" "$library/libdaedal.a" $private
try "run, static" "$folder/static"
version=$(sed -n 's/^Version: //p' "$library/pkgconfig/daedal.pc")
all=$(sed -n 's/.*because these have no archive here: //p' "$library/pkgconfig/daedal.pc")
if [ -n "$all" ]; then
  echo "not tried: -static without archives of $all"
else
  try "compile, all static" $compile -static -o "$folder/all_static" -L"$library" -ldaedal $private
  try "run, all static" "$folder/all_static"
  if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH="$library/pkgconfig"
    try "compile, all static by pkg-config" cc -static "$folder/stranger.c" -o "$folder/by_name" $(pkg-config --cflags --static --libs daedal)
    try "run, all static by pkg-config" "$folder/by_name"
    awk '/^```c$/ { inside = 1; next } /^```/ && inside { exit } inside' "$SOURCE_DIR/docs/embedding.md" >"$folder/first.c"
    try "the program of the page" sh -c "cc -static $folder/first.c $(pkg-config --static --cflags --libs daedal) -o $folder/first"
    try "run it" sh -c "cd $SOURCE_DIR && $folder/first | grep 'x ends at'"
  fi
fi
try "one version" grep -q "define DAEDAL_VERSION \"$version\"" "$prefix/include/daedal.h"
try "command" "$prefix/bin/daedal" --version
try "completion of bash" bash -n "$prefix/share/bash-completion/completions/daedal"
try "completion of zsh" grep -q '^#compdef daedal' "$prefix/share/zsh/vendor-completions/_daedal"
try "completion of fish" grep -q 'complete -c daedal' "$prefix/share/fish/vendor_completions.d/daedal.fish"
try "examples" "$prefix/bin/daedal" check "$prefix/share/doc/daedal/examples/pendulum.mo"
try "documents" test -f "$prefix/share/doc/daedal/messages.md"
mkdir "$folder/project"
cat >"$folder/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(stranger C)
find_package(daedal 0.2 REQUIRED)
add_executable(shared ../stranger.c)
target_link_libraries(shared daedal::daedal)
add_executable(static ../stranger.c)
target_link_libraries(static daedal::static)
option(ALL_STATIC "" OFF)
if(ALL_STATIC)
  target_link_options(static PRIVATE -static)
endif()
END
try "find_package" cmake -S "$folder/project" -B "$folder/project/build" "-DCMAKE_PREFIX_PATH=$prefix" "-DALL_STATIC=$([ -n "$all" ] || echo ON)"
try "build with CMake" cmake --build "$folder/project/build"
try "run, shared by CMake" "$folder/project/build/shared"
try "run, static by CMake" "$folder/project/build/static"
package=$(dirname "$(dirname "$(find "$prefix" -name _library.py)")")
try "package" env -u DAEDAL_LIBRARY PYTHONPATH="$package" python3 -c "
import importlib.util, sys
spec = importlib.util.spec_from_file_location('library', '$package/daedal/_library.py')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.exit(module.library.version().decode() != '$version')"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
