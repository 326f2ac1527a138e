// Functions whose control flow depends on their arguments: while, for, break, return, recursion, nested calls.
function root "Newton's method, with a default for the tolerance"
  input Real a;
  input Real tolerance = 1e-12;
  output Real x;
protected
  Integer k = 0;
algorithm
  x := 1;
  while abs(x*x - a) > tolerance and k < 60 loop
    x := 0.5*(x + a/x);
    k := k + 1;
  end while;
end root;

function series "sum of x^k/k up to the argument n, left early"
  input Real x;
  input Real n;
  output Real y;
protected
  Real term;
algorithm
  y := 0;
  term := 1;
  for k in 1:integer(n) loop
    term := term*x;
    if abs(term) < 1e-3 then
      break;
    elseif k > 30 then
      return;
    end if;
    y := y + (if k > 3 then term/k else 2*term/k);
  end for;
  y := -y;
end series;

function steps "a step that is no whole number, downwards too"
  input Real x;
  output Real y;
algorithm
  y := 0;
  for s in 2*x:-0.25:0.1 loop
    y := y + s*x;
    for t in {0.1, 0.5, 2.0*s} loop
      if t > x then
        y := y + sin(t*x);
        break;
      end if;
    end for;
  end for;
end steps;

function power "recursive"
  input Real x;
  input Integer n;
  output Real y;
algorithm
  if n <= 0 then
    y := 1;
    return;
  end if;
  y := x*power(x, n - 1);
end power;

function both "two outputs, one of them from nested calls"
  input Real x;
  input Real y;
  output Real a;
  output Real b;
protected
  Real c;
algorithm
  c := root(x + y);
  (a, b) := swap(c, root(x*y, 1e-10));
  while a < 3 and not (b > 100 or a < 0) loop
    a := a*1.5 + 0.1*b;
    b := b + power(a, integer(floor(x)) + 1)/10;
  end while;
  assert(a > -1, "never", AssertionLevel.warning);
  assert(b > -1, "never " + String(b));
end both;

function swap
  input Real x;
  input Real y;
  output Real a = y;
  output Real b = x;
protected
  Real count = 0;
algorithm
  while count < x loop
    count := count + 1;
    a := a + 1/count;
  end while;
end swap;

function operators "every operator that a function may use"
  input Real x;
  input Real y;
  output Real z;
protected
  Real u;
  Boolean flag;
  Integer n;
algorithm
  u := x;
  while u > 0.9 loop
    u := u/2;
  end while;
  z := sin(u) + cos(u) + tan(u) + asin(u) + acos(u) + atan(u) + sinh(u) + cosh(u) + tanh(u);
  z := z + exp(u) + log(y) + log10(y) + sqrt(y) + atan2(x, y) + x^y + u^2 + y^(-3);
  z := z + abs(u - y) + sign(u - y) + min(x, y)*max(u, y) + floor(3*y)*u + ceil(x)*y;
  n := integer(2*x) + div(7, 2) + mod(11, 4) - rem(-7, 3);
  z := z + n*x + mod(x, 0.3) + rem(y, 0.4) + div(x, 0.2)*y + semiLinear(x - y, 2*x, 3*y);
  flag := x < y or x >= 1.2 and y <> 2;
  z := z + (if flag then x*y elseif x == y then 1 else x/y) + noEvent(if u > 0.7 then u else 1/u) + smooth(0, u*y);
end operators;

function fails "leaves the domain for some arguments"
  input Real x;
  output Real y;
protected
  Real u = x;
algorithm
  while u > 0.5 loop
    u := u - 0.4;
  end while;
  y := log(u - 0.3);
  assert(u < 0.48, "too large");
end fails;

function cube "its derivative is given"
  input Real x;
  output Real y;
protected
  Real k;
algorithm
  y := x;
  k := 0;
  while k < 1.5 loop
    y := y*x;
    k := k + 1;
  end while;
  annotation(derivative = cube_der);
end cube;

function cube_der
  input Real x;
  input Real dx;
  output Real dy;
protected
  Real k;
algorithm
  dy := 3*dx;
  k := 0;
  while k < 1.5 loop
    dy := dy*x;
    k := k + 1;
  end while;
end cube_der;

model Loops
  Real x(start = 1), y(start = 1), z[9](each start = 1);
equation
  x = 1.2 + time/100;
  y*y = root(x*x + y);
  z[1] = series(x/2, 10*y);
  z[2] = steps(x*y);
  z[3] = power(x + y, integer(3*x));
  (z[4], z[5]) = both(x, y);
  z[6] = operators(x, y);
  z[7] = fails(x);
  z[8] = cube(x*y)*cube(z[7]);
  z[9] = root(y, x*1e-9) + series(y/3, x)*swap(x, y);
end Loops;
