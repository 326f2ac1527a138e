model Functions "functions that stay calls, with arrays, records, several outputs, defaults and recursion"
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'n' = 'newton$2'('x' + 2, 1e-10);
  // expect: line 'r.b[2]' = ('spread$2'({'x', 2*'x', time}, 'R'('x', {1, 2}), true)).'b'[2];
  // expect: line elseif 'count' > 100 then
  // expect: line 'f' := if 'n' <= 1 then 1 else 'n' * 'factorial'('n' - 1);
  // expect: line 'q'.'b' := {'v'[1], -'v'[2]} .* {2.0, 3} + ['r'.'b'[1], 'r'.'b'[2]; 1, 2] * {1, 2};
  record R "a pair"
    Real a;
    Real b[2];
  end R;
  type Color = enumeration(red, green "not red", blue);
  function newton "data-dependent loop"
    input Real x;
    input Real tolerance = 1e-10;
    output Real y;
    output Integer count;
  protected
    Real d;
  algorithm
    y := x;
    count := 0;
    d := 1;
    while abs(d) > tolerance loop
      d := (y^2 - x)/(2*y);
      y := y - d;
      count := count + 1;
      if count > 50 then
        break;
      elseif count > 100 then
        return;
      else
        d := d;
      end if;
    end while;
  end newton;
  function spread
    input Real v[:];
    input R r;
    input Boolean flip = false;
    output Real w[size(v, 1)];
    output R q;
  protected
    Integer k = 1;
  algorithm
    while v[k] < 0 and k < size(v, 1) loop
      k := k + 1;
    end while;
    for i in 1:size(v, 1) loop
      w[i] := if flip then -v[i] else v[i]*r.a + r.b[1 + mod(i, 2)];
    end for;
    q.a := sum(v[i]^2 for i in k:size(v, 1)) - max({v[1], v[end]});
    q.b := {v[1], -v[2]} .* {2.0, 3} + [r.b[1], r.b[2]; 1, 2]*{1, 2};
  end spread;
  function factorial
    input Real n;
    output Real f;
  algorithm
    f := if n <= 1 then 1 else n*factorial(n - 1);
  end factorial;
  function paint
    input Real x;
    output Color c;
  protected
    Real y;
  algorithm
    y := x;
    c := Color.red;
    while y > 1 loop
      y := y - 1;
      c := if c == Color.red then Color.green else Color.blue;
    end while;
    assert(y < 2, "too large: " + String(y));
  end paint;
  function check
    input Real u;
  algorithm
    assert(u < 100, "large");
  end check;
  // A call that is a separate statement stays before the if that follows it.
  // expect: line if 'u' > 0.5 then
  function steps
    input Real u;
    output Real y;
  algorithm
    y := u;
    while y > 1 loop
      y := y - 1;
    end while;
    if u > 1 then
      y := 1;
    else
      check(u);
      if u > 0.5 then
        y := 2;
      end if;
    end if;
  end steps;
  Real x(start = 2, fixed = true);
  Real s;
  Real y, z[3], f;
  Integer n;
  R r;
  Color c;
equation
  der(x) = -x;
  (y, n) = newton(x + 2);
  (z, r) = spread({x, 2*x, time}, R(x, {1, 2}), flip = true);
  f = factorial(x);
  c = paint(x);
  s = steps(x);
  annotation(experiment(StopTime = 2));
end Functions;
