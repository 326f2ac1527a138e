// run: simulate --solver {erk,radau,bdf,ida,cvode}
// expect: time = 1
model M
  parameter Real p = 2;
end M;
