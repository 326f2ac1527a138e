// A Real parameter may be set to any value later: it cannot decide a size.
// run: check
// expect: exit 3
// expect: says the binding depends on the size of output `y` that is not known at compile time
model OpenOutputSize
  function positive
    input Real x[:];
    output Real y[:];
  algorithm
    for i in 1:size(x, 1) loop
      if x[i] > 0 then
        y := cat(1, y, x[i:i]);
      end if;
    end for;
  end positive;
  parameter Real b[3] = {0.5, -1, 1.5};
  Real r[2] = positive(b);
end OpenOutputSize;
