model Contact "Estevez Schwarz, section 6: a disc in contact with the curve h(s) = a cos(s)"
  // g_con: the distance of the centre from the contact point along the normal is rho; g_npe: their distance along the tangent is 0.
  // Contact and non-penetrating conditions hold p = (x, y) and p_r = s; both are differentiated twice; index 3.
  // run: analyze
  // expect: report.equations = 6
  // expect: report.structural_index = 3
  // expect: report.dof = 2
  // expect: report.offsets.c = [1, 1, 0, 0, 2, 2]
  // expect: report.offsets.d = [2, 2, 1, 1, 0, 2]
  // expect: sum(report.differentiations.times) = 6
  // run: flatten
  // expect: exit 0
  parameter Real m = 1;
  parameter Real g = 9.81;
  parameter Real a = 0.2;
  parameter Real rho = 0.1;
  Real x;
  Real y(start = 0.3);
  Real vx;
  Real vy;
  Real lambda;
  Real s;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -lambda*a*sin(s)/sqrt(1 + (a*sin(s))^2);
  m*der(vy) = -m*g - lambda/sqrt(1 + (a*sin(s))^2);
  0 = ((x - s)*a*sin(s) + y - a*cos(s))/sqrt(1 + (a*sin(s))^2) - rho;
  0 = x - s - (y - a*cos(s))*a*sin(s);
end Contact;
