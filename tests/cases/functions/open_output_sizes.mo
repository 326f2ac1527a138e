// The size of an output `[:]` may follow from values: of constants, of parameters that the model says to evaluate, and of whole numbers.
// An open size may also come from a start value.
// run: simulate --output-file - --intervals 1 --stop-time 1
// expect: line time,x[1],x[2],r[1],r[2],s[1],s[2]
// expect: line 1,1,2,0.5,1.5,1,2
model OpenOutputSizes
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
  function positive_numbers
    input Integer x[:];
    output Integer y[:];
  algorithm
    for i in 1:size(x, 1) loop
      if x[i] > 0 then
        y := cat(1, y, {x[i]});
      end if;
    end for;
  end positive_numbers;
  parameter Integer a[:] = {-2, 1, 0, -1, 2};
  parameter Real b[3] = {0.5, -1, 1.5} annotation(Evaluate = true);
  Integer x[:] = positive_numbers(a);
  Real r[:] = positive(b);
  Integer s[:](each fixed = true, start = positive_numbers(a));
equation
  when false then
    s = pre(s);
  end when;
end OpenOutputSizes;
