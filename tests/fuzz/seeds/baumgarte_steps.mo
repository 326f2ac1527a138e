// 550142179
model M
  Real x1;
  parameter Real p2(fixed = false, start = 1); Real g2(start = 1, fixed = true);
  Real x3;
  Real y4;
  Real z5;
  Real a6(start = 3);
  Real b7(min = -5, max = 5);
  Real c8;
  parameter Real p9(fixed = false, start = 1); Real g9(start = 1, fixed = true);
initial equation
der(x1) = 0;
der(g2) = -0.5;
der(g9) = -0.5;
equation
  der(x1)  =  1 - x1 + smooth(0, if 0 < 0.5 then (0)^0.5 else (1.5)^3);
  der(x3) + z5*der(y4)  =  (x1 + time);
   x3 + z5*y4  =  x1;
   z5  =  2 + min({10, g2, 1}[2], {x1, x1, g2}[2]);
  a6  =  b7;
   b7  =  -c8;
   der(a6)  + 1.5*( z5 ) =  -c8 + {(x1)^3, log(1 + (x1)^2), smooth(2, g2)}[2] + 1.5*( 2 + min({10, g2, 1}[2], {x1, x1, g2}[2]));
  der(g2) = -p2*g2;
  der(g9) = -p9*g9;
end M;
