// A ball whose bounces accumulate. In the limit, the model lets it rest on the floor, so the run continues.
// run: simulate --solver {erk,radau,bdf,ida,cvode} --stop-time 4
// expect: flying = 0
// expect: abs(h) < 1e-4
// expect: abs(v) < 1e-4
model Rests
  parameter Real e = 0.7, g = 9.81;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Boolean flying(start = true);
equation
  der(h) = v;
  der(v) = if flying then -g else 0;
  flying = not (h <= 0 and v <= 0);
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
end Rests;
