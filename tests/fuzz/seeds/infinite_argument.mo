// 362052129
model M
  function halve input Real a; output Real b; protected Real c; algorithm b := 1; c := abs(a); while c > 0.25 loop c := c/2; b := b + 0.5*sin(a); end while; end halve;
  Real a1(start = 1);
  Real b2(start = 2);
  Real 'a.b[3]'(start = 1);
  Real x4;
  Real y5(start = 2, nominal = 1e-3);
  Real z6;
equation
  a1 + b2  =  0;
   a1  =  1*time;
  der(x4)  =  y5 + z6;
   x4 + 2*y5  =  halve(1/(time));
   der(y5)  =  z6 - x4;
  der('a.b[3]') = -'a.b[3]';
end M;
