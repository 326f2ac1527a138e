// The same without a state of rest: there is no solution after the time at which the bounces accumulate.
// run: simulate --solver {erk,radau,bdf,ida,cvode} --stop-time 5
// expect: exit 6
// expect: says /changes infinitely often before/
// expect: says /integrated to t = 2\.55/
model Falls
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 then
    reinit(v, -0.7*pre(v));
  end when;
end Falls;
