model Squeezer "Andrews' squeezing mechanism: seven planar bodies, three closed loops, a motor and a spring"
  parameter Real m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.0705, m6 = 0.00706, m7 = 0.05498;
  parameter Real i1 = 2.194e-6, i2 = 4.41e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5, i6 = 5.667e-7, i7 = 1.912e-5;
  parameter Real xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072;
  parameter Real d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092, ss = 0.035, sa = 0.01874;
  parameter Real sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916, u = 0.04, ua = 0.01228, ub = 0.00449;
  parameter Real zf = 0.02, zt = 0.04, fa = 0.01421, c0 = 4530 "stiffness", l0 = 0.07785, mom = 0.033 "torque";
  Real beta(start = -0.06171389), theta(start = 0, fixed = true), gamma(start = 0.45527982), phi(start = 0.22266839);
  Real delta(start = 0.48736498), omega(start = -0.22266839), epsilon(start = 1.23054744);
  Real ld = sqrt((sd*cos(gamma) + sc*sin(gamma) + xb - xc)^2 + (sd*sin(gamma) - sc*cos(gamma) + yb - yc)^2);
initial equation
  der(theta) = 0;
lagrangian
  (m1*ra^2 + i1)/2*der(beta)^2 + i2/2*(der(beta) + der(theta))^2 + (m3*(sa^2 + sb^2) + i3)/2*der(gamma)^2;
  m2/2*(rr^2*der(beta)^2 - 2*da*rr*cos(theta)*der(beta)*(der(beta) + der(theta)) + da^2*(der(beta) + der(theta))^2);
  i4/2*(der(phi) + der(delta))^2 + (m5*(ta^2 + tb^2) + i5)/2*der(delta)^2;
  m4/2*((e - ea)^2*(der(phi) + der(delta))^2 + 2*zt*(e - ea)*sin(phi)*der(delta)*(der(phi) + der(delta)) + zt^2*der(delta)^2);
  i6/2*(der(omega) + der(epsilon))^2 + (m7*(ua^2 + ub^2) + i7)/2*der(epsilon)^2 - c0/2*(ld - l0)^2;
  m6/2*((zf - fa)^2*(der(omega) + der(epsilon))^2 - 2*u*(zf - fa)*sin(omega)*der(epsilon)*(der(omega) + der(epsilon)) + u^2*der(epsilon)^2);
force
  beta = mom;
constraint
  rr*cos(beta) - d*cos(beta + theta) - ss*sin(gamma) = xb;
  rr*sin(beta) - d*sin(beta + theta) + ss*cos(gamma) = yb;
  rr*cos(beta) - d*cos(beta + theta) - e*sin(phi + delta) - zt*cos(delta) = xa;
  rr*sin(beta) - d*sin(beta + theta) + e*cos(phi + delta) - zt*sin(delta) = ya;
  rr*cos(beta) - d*cos(beta + theta) - zf*cos(omega + epsilon) - u*sin(epsilon) = xa;
  rr*sin(beta) - d*sin(beta + theta) - zf*sin(omega + epsilon) + u*cos(epsilon) = ya;
  annotation(experiment(StopTime = 0.03, Tolerance = 1e-8));
end Squeezer;
