// A lossless line with matched ends only delays; at an open end the wave doubles and is reflected.
// run: simulate --stop-time 1 --intervals 40
// expect: v2 = (0 if time < 0.3 else 1) within 1e-9 where abs(time - 0.3) > 1e-9
// expect: v1 = (0 if time < 0.1 else 0.5 if time < 0.5 else 1) within 1e-9 where abs(time - 0.1) > 1e-9 and abs(time - 0.5) > 1e-9
model M
  parameter Real Z = 50, T = 0.2;
  Real v1, i1, v2, i2, u;
equation
  u = if time < 0.1 then 0 else 1;
  v1 = u - Z*i1;
  v1 - Z*i1 = delay(v2 + Z*i2, T);
  v2 - Z*i2 = delay(v1 + Z*i1, T);
  i2 = 0;
end M;
