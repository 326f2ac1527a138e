// A redeclaration in a modification may give an enumeration; an element that it makes final is final only for other modifications.
// run: simulate --stop-time 1
// expect: n = 2 within 1e-9
// expect: inside = 4 within 1e-9
// run: check
// change: m(redeclare -> m(inside(k = 5), redeclare
// expect: exit 3
// expect: says `k` is final, and cannot be modified
model Inside
  parameter Real k = 1;
end Inside;

model Around
  replaceable model Kind = Inside;
  Kind inside;
end Around;

model Chooser
  replaceable type Choice = enumeration(:);
  parameter Choice choice;
end Chooser;

model RedeclaredEnumeration
  extends Chooser(redeclare type Choice = enumeration(small "first", large "second"), choice = Choice.large);
  parameter Real k = 4;
  Around m(redeclare model Kind = Inside(final k = k));
  Real n = Integer(choice);
  Real inside = m.inside.k;
end RedeclaredEnumeration;
