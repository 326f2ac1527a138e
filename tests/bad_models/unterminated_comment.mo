model UnterminatedComment
  // expect: exit 3
  // expect: 4:3: unterminated comment
  /* this never ends
  Real x;
equation
  x = 1;
end UnterminatedComment;
