function gcd
  input Integer a;
  input Integer b = 12;
  output Integer r;
protected
  Integer t;
algorithm
  r := a;
  t := b;
  while t <> 0 loop
    (r, t) := step(r, t);
    if r > 1000000 then
      break;
    end if;
  end while;
end gcd;

function step
  input Integer a, b;
  output Integer c, d;
algorithm
  c := b;
  d := mod(a, b);
  return;
  annotation(Inline = true);
end step;

function sine
  input Real x;
  output Real y;
  external "builtin" y = sin(x);
end sine;

model Functions
  parameter Integer k = gcd(a = 18);
  Real x(start = 1);
equation
  der(x) = -k*sine(x) + integer(x) + div(7, 2) + rem(7, 4) + atan2(x, 2) + abs(x)^1.5 / (1 + x .^ 2);
end Functions;
