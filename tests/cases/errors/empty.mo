// run: check
// expect: exit 3
// expect: 1:1: the file is empty
