// The size of a function's result is a field of a record: the value of the field is used, even if the record is given as a whole.
// expect: z[2] = 4
// expect: z[1] = 1
record Winding
  parameter Integer m = 3;
  parameter Real turns[m] = ones(m);
end Winding;

record Small
  extends Winding(final m = 2, final turns = {1, 2});
end Small;

function scaled
  input Winding w;
  output Real y[w.m];
algorithm
  for k in 1:w.m loop
    y[k] := w.turns[k]*k;
  end for;
end scaled;

model M
  parameter Winding winding = Small();
  parameter Real n[winding.m] = scaled(winding);
  Real z[winding.m] = n*time;
end M;
