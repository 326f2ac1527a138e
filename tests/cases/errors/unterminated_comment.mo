model UnterminatedComment
  // run: check
  // expect: exit 3
  // expect: 5:3: unterminated comment
  /* this never ends
  Real x;
equation
  x = 1;
end UnterminatedComment;
