model SliderCrank "crank, rod and slider as three bodies held together by four constraints: index 3"
  // The crank turns about the origin by phi and is balanced. The rod has its centre at (x, y) and is turned by theta;
  // (Fx, Fy) is the force of the crank on the rod at its pin, (Gx, Gy) that of the slider at the other end. The
  // slider moves along the horizontal axis at s. One mechanical degree of freedom, so two initial values.
  parameter Real r = 0.5 "length of the crank";
  parameter Real L = 1.2 "length of the rod";
  parameter Real J = 0.3 "inertia of the crank about its axis";
  parameter Real m = 1.5 "mass of the rod";
  parameter Real I = 0.18 "inertia of the rod about its centre";
  parameter Real ms = 0.8 "mass of the slider";
  parameter Real g = 9.81 "gravity";
  Real phi(start = 0.5, fixed = true) "angle of the crank";
  Real x(start = 1);
  Real y(start = 0.1);
  Real theta(start = -0.2) "angle of the rod";
  Real s(start = 1.6) "position of the slider";
  Real w(start = 6, fixed = true) "speed of the crank";
  Real vx(start = 0);
  Real vy(start = 0);
  Real wr(start = 0) "angular speed of the rod";
  Real vs(start = 0);
  Real Fx(start = 0);
  Real Fy(start = 0);
  Real Gx(start = 0);
  Real Gy(start = 0);
  Real E "energy";
equation
  der(phi) = w;
  der(x) = vx;
  der(y) = vy;
  der(theta) = wr;
  der(s) = vs;
  J*der(w) = r*sin(phi)*Fx - r*cos(phi)*Fy;
  m*der(vx) = Fx + Gx;
  m*der(vy) = Fy + Gy - m*g;
  I*der(wr) = L/2*(sin(theta)*(Fx - Gx) - cos(theta)*(Fy - Gy));
  ms*der(vs) = -Gx;
  x - L/2*cos(theta) = r*cos(phi);
  y - L/2*sin(theta) = r*sin(phi);
  x + L/2*cos(theta) = s;
  y + L/2*sin(theta) = 0;
  E = J/2*w^2 + m/2*(vx^2 + vy^2) + I/2*wr^2 + ms/2*vs^2 + m*g*y;
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end SliderCrank;
