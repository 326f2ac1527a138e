package P function f input Real a; output Real b; algorithm b := a^2; end f; function g = der(f, a);
model M Real x(start = 0.6, fixed = true), y(start = -0.8), h = g(x); initial equation der(x) = 0;
lagrangian der(x)^2/2 + der(y)^2/2 - 9.81*y; dissipation der(x)^2/9; force y = sin(time);
constraint x^2 + y^2 = 1 "rod"; end M; end P;
