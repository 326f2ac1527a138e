// Each of the two takes half of the jump, for both choices of the state: then v2' = -v2/2.
// run: simulate --solver {auto,erk,radau,bdf,ida,cvode} --tolerance 1e-7 --intervals 3 --stop-time 3
// let: half = 0.5*exp(-1)
// expect: v1 = 1 - half within 1e-5
// expect: v2 = half within 1e-5
// expect: rows < 99
// run: simulate --solver {auto,erk,radau,bdf,ida,cvode} --tolerance 1e-7 --intervals 3 --stop-time 3
// change: v1(start=0, fixed=true, stateSelect=StateSelect.prefer), v2(start=0, fixed=false, stateSelect=StateSelect.default) -> v1(start=0, fixed=false, stateSelect=StateSelect.default), v2(start=0, fixed=true, stateSelect=StateSelect.prefer)
// expect: v1 = 1 - half within 1e-5
// expect: v2 = half within 1e-5
// expect: rows < 99
model Jump
  Real u, v1(start=0, fixed=true, stateSelect=StateSelect.prefer), v2(start=0, fixed=false, stateSelect=StateSelect.default), i;
equation
  u = if time < 1 then 0 else 1;
  u = v1 + v2;
  der(v1) = i;
  der(v2) = i - v2;
end Jump;
