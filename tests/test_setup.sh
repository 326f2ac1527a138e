#!/bin/sh
# tools/setup with a made-up system: which programs it calls, and when it calls none.
set -u
unset DAEDAL_NO_SETUP
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

fake() { # fake NAME BODY: a command of the made-up system
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}

begin() { # a system with the usual tools, run by root, where all of group build but ninja-build is there
  rm -rf "$folder/bin"
  mkdir "$folder/bin"
  for tool in sh dirname awk tr grep env cat; do ln -s "$(command -v $tool)" "$folder/bin/$tool"; done
  fake id 'echo 0'
  fake dpkg-query 'shift 3; for name; do [ $name = ninja-build ] || echo "$name installed"; done; exit 1'
  fake apt-get "echo \"apt-get \$*\" >>$folder/calls"
  : >"$folder/calls"
}

expect() { # expect NAME STATUS CALLS WORDS: runs setup and compares
  PATH=$folder/bin "$folder/bin/sh" "$SOURCE_DIR/tools/setup" build >"$folder/out" 2>&1
  status=$?
  [ -n "$4" ] || echo "no words" >>"$folder/out"
  if [ "$status" -eq "$2" ] && [ "$(cat "$folder/calls")" = "$3" ] && head -n 1 "$folder/out" | grep -q -- "${4:-^no words}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1: status $status, calls: $(cat "$folder/calls"), output: $(cat "$folder/out")"
  fi
}

install="apt-get update -q
apt-get install -q -y --no-install-recommends ninja-build"

begin
expect "installs what is missing" 0 "$install" "installing ninja-build"

begin
fake dpkg-query 'shift 3; for name; do echo "$name installed"; done'
expect "does nothing when all is there" 0 "" ""

begin
fake dpkg-query 'shift 3; for name; do [ $name = ninja-build ] && echo "$name config-files" || echo "$name installed"; done'
expect "a removed package is missing" 0 "$install" "installing ninja-build"

begin
fake id 'echo 1000'
expect "neither root nor sudo" 1 "" "as root: apt-get install ninja-build"

begin
fake id 'echo 1000'
fake sudo "echo sudo >>$folder/calls; exec \"\$@\""
expect "sudo when not root" 0 "sudo
apt-get update -q
sudo
apt-get install -q -y --no-install-recommends ninja-build" "installing ninja-build"

begin
rm "$folder/bin/apt-get"
expect "no apt-get" 1 "" "no apt-get to install them: ninja-build"

begin
rm "$folder/bin/dpkg-query"
expect "not a Debian system" 0 "" "not a Debian system"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
