// The function equalityConstraint compares arrays: the array as a whole is one overdetermined record, with one root.
// expect: line.b.theta[2] = 1 within 1e-9
// expect: root = 1
// expect: other = 0
type Angle
  extends Real;
  function equalityConstraint
    input Angle theta1[:];
    input Angle theta2[:];
    output Real residue[0];
  algorithm
  end equalityConstraint;
end Angle;

connector Pin
  Real v;
  flow Real i;
  Angle theta[2];
end Pin;

model Source
  Pin p;
  Boolean is_root = Connections.isRoot(p.theta);
equation
  Connections.potentialRoot(p.theta);
  if Connections.isRoot(p.theta) then
    p.theta = {time, time};
  end if;
  p.v = 1;
end Source;

model Line
  Pin a, b;
equation
  Connections.branch(a.theta, b.theta);
  a.theta = b.theta;
  a.i + b.i = 0;
  a.v - b.v = a.i;
end Line;

model Grid
  Source s, t;
  Line line;
  Real root = if s.is_root then 1 else 0, other = if t.is_root then 1 else 0;
equation
  connect(s.p, line.a);
  connect(line.b, t.p);
end Grid;
