// 598515177
model M
  Real a1(start = 1);
  Real b2(start = 1.5);
  Real x3;
  Real y4;
  Real h5, l5;
equation
  a1 + b2  =  0;
   a1  =  max(0.1, time);
  der(x3) + time*der(y4)  =  b2;
   x3 + time*y4  + 2*(der(x3) + time*der(y4) ) =  ({min(a1, 3), abs(0)}*{(a1)^2, b2}) + 2*( b2);
algorithm
  h5 := asin(0.1*max(a1, x3)); for i in 1:3 loop h5 := 0.5*h5 + i; end for; l5 := h5^2;
equation
end M;
