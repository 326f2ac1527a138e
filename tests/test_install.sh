#!/bin/sh
# An installed daedal serves a stranger: header, shared and static library, pkg-config file, command.
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
  int failed = !model || daedal_model_status(model) != DAEDAL_OK || strcmp(daedal_model_name(model), "M") != 0;
  daedal_model_free(model);
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
package=$(dirname "$(dirname "$(find "$prefix" -name _library.py)")")
try "package" env -u DAEDAL_LIBRARY PYTHONPATH="$package" python3 -c "
import importlib.util, sys
spec = importlib.util.spec_from_file_location('library', '$package/daedal/_library.py')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.exit(module.library.version().decode() != '$version')"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
