model NotUnique "At time 0.5 the equations leave z open: no method steps over it"
  // run: simulate --method {dummy,minimal,projection,underlying,strangeness} --solver {erk,radau,bdf} --tolerance {1e-3,1e-6}
  // expect: exit 6
  // expect: says stopped at time 0.5: the Jacobian of 1 equation is singular there
  // run: simulate --method minimal
  // change: (time - 0.5)*z -> (time - 0.5)^2*z
  // expect: exit 6
  // expect: says stopped at time 0.5: the Jacobian of 1 equation is singular there
  Real x(start = 1), y(start = 1), z;
equation
  der(x) = y + (time - 0.5)*z;
  der(y) = -x;
  x = cos(time);
end NotUnique;
