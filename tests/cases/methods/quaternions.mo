model Quaternions "A free rigid body by quaternions: the mass matrix is singular, and every coordinate passes zero"
  // run: simulate --method {minimal,projection,baumgarte,ggl,underlying,overdetermined,strangeness}
  // reference: simulate --tolerance 1e-10
  // expect: q0 = reference.q0 within 2e-5
  // expect: q2 = reference.q2 within 2e-5
  // expect: E = first(E) within 1e-5 everywhere
  // run: simulate --method minimal --solver {radau,bdf}
  // expect: E = first(E) within 1e-5 everywhere
  parameter Real J1 = 1, J2 = 2, J3 = 3;
  Real q0(start = 1), q1(start = 0, fixed = true), q2(start = 0, fixed = true), q3(start = 0, fixed = true);
  Real w1 = 2*(q0*der(q1) - q1*der(q0) + q3*der(q2) - q2*der(q3));
  Real w2 = 2*(q0*der(q2) - q2*der(q0) + q1*der(q3) - q3*der(q1));
  Real w3 = 2*(q0*der(q3) - q3*der(q0) + q2*der(q1) - q1*der(q2));
  Real E = (J1*w1^2 + J2*w2^2 + J3*w3^2)/2;
initial equation
  w1 = 0.1;
  w2 = 1;
  w3 = 0.1;
lagrangian
  (J1*w1^2 + J2*w2^2 + J3*w3^2)/2;
constraint
  q0^2 + q1^2 + q2^2 + q3^2 = 1;
  annotation(experiment(StopTime = 12, Tolerance = 1e-8));
end Quaternions;
