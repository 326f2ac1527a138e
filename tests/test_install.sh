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
  daedal_free(model);
  return failed;
}
END

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
END
try "find_package" cmake -S "$folder/project" -B "$folder/project/build" "-DCMAKE_PREFIX_PATH=$prefix"
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
