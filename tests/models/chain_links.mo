model ChainLinks "A hanging chain in Cartesian coordinates, index 3, damped alike in all links"
  parameter Integer n = 100 "Links";
  parameter Real g=9.81, L=0.1, m=1, d=0.2;
  input Real F(start=0);
  Real x[n], y[n](start={-L*i for i in 1:n}), vx[n], vy[n], T[n];
  output Real tip = x[n];
equation
  for i in 1:n loop
    vx[i]=der(x[i]); vy[i]=der(y[i]);
  end for;
  x[1]^2+y[1]^2=L^2;
  for i in 2:n loop
    (x[i]-x[i-1])^2+(y[i]-y[i-1])^2=L^2;
  end for;
  m*der(vx[1]) = -T[1]*x[1]+T[2]*(x[2]-x[1]) - d*vx[1];
  m*der(vy[1]) = -T[1]*y[1]+T[2]*(y[2]-y[1]) - m*g - d*vy[1];
  for i in 2:n-1 loop
    m*der(vx[i]) = -T[i]*(x[i]-x[i-1])+T[i+1]*(x[i+1]-x[i]) - d*vx[i];
    m*der(vy[i]) = -T[i]*(y[i]-y[i-1])+T[i+1]*(y[i+1]-y[i]) - m*g - d*vy[i];
  end for;
  m*der(vx[n]) = F - T[n]*(x[n]-x[n-1]) - d*vx[n];
  m*der(vy[n]) = -T[n]*(y[n]-y[n-1]) - m*g - d*vy[n];
initial equation
  for i in 1:n loop x[i]=0; vx[i]=0; end for;
end ChainLinks;