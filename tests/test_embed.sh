#!/bin/sh
# The example of docs and README for C programmers: compiled against the header and the built library alone, and run.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=""
[ "$BUILD_KIND" = asan ] && flags="-fsanitize=address,undefined"
cc -std=c99 -Wall -Wextra -Werror -pedantic $flags -I"$SOURCE_DIR/include" "$SOURCE_DIR/examples/embed/pendulum.c" \
  -L"$BUILD_DIR" -ldaedal -lm -Wl,-rpath,"$BUILD_DIR" -o "$folder/pendulum"
"$folder/pendulum" > "$folder/out"
grep -q '^index 3, 2 degrees of freedom$' "$folder/out"
grep -q '^at time 2: length 2.000000000000 after [1-9][0-9]* steps$' "$folder/out"
echo "1 passed, 0 failed"
