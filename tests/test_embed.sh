#!/bin/sh
# The examples for C programmers: compiled against only the header and the built library, and run. The header is C++ too.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=""
[ "$BUILD_KIND" = asan ] && flags="-fsanitize=address,undefined"
for name in pendulum realtime kalman threads sweep; do
  cc -std=c99 -Wall -Wextra -Werror -pedantic $flags -I"$SOURCE_DIR/include" "$SOURCE_DIR/examples/embed/$name.c" \
    -L"$BUILD_DIR" -ldaedal -lm -lpthread -Wl,-rpath,"$BUILD_DIR" -o "$folder/$name"
  "$folder/$name" > "$folder/$name.out"
done
grep -q '^index 3, 2 degrees of freedom$' "$folder/pendulum.out"
grep -q '^at time 2: length 2.000000000000 after [1-9][0-9]* steps$' "$folder/pendulum.out"
grep -q '^7 of 7 points, 0 failed$' "$folder/sweep.out"
grep -q '^after 3 s the angle is' "$folder/realtime.out"
if command -v clang > /dev/null; then
  echo "#include <daedal.h>" | clang -x c++ -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only "-I$SOURCE_DIR/include" -
fi
echo "6 passed, 0 failed"
