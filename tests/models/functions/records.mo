// Records in functions: fields that are arrays, arrays of records, records as arguments and results.
record Point
  Real x;
  Real y[2];
end Point;

record Body
  Real mass;
  Point at;
  Point ends[2];
end Body;

type Kind = enumeration(steel, wood, other);

function place
  input Real a;
  input Kind kind = Kind.wood;
  output Point p;
algorithm
  p.x := a;
  p.y := {a*a, 1};
  while p.x > 0.8 loop
    p.x := p.x/2;
    p.y[2] := p.y[2] + p.x;
  end while;
  if kind == Kind.steel then
    p.y := 2*p.y;
  end if;
end place;

function build
  input Real a;
  input Real b;
  output Body body;
protected
  Point list[3];
  Point one;
algorithm
  for i in 1:3 loop
    list[i] := place(a + i*b, if a > b then Kind.steel else Kind.other);
  end for;
  one := list[2];
  one.y[1] := -one.x;
  body.mass := sum(list.x) + list[3].y[2];
  body.at := one;
  body.ends := list[2:3];
  body.ends[1].x := 7*a;
  while body.mass < 20 loop
    body := Body(body.mass*1.5 + 1, place(body.mass), {body.at, one});
  end while;
end build;

function measure
  input Body body;
  input Point points[2];
  output Real m;
  output Point far;
algorithm
  m := body.mass + sum(body.ends.y) + body.ends[2].y*points[1].y;
  far := points[1];
  for i in 1:size(points, 1) loop
    if points[i].x > far.x then
      far := points[i];
    end if;
  end for;
  while m > 10 loop
    m := m/2 - 0.1*far.x;
  end while;
end measure;

function whole
  input Real a;
  input Real b;
  output Real r[4];
protected
  Body body;
  Point far;
  Real m;
algorithm
  body := build(a, b);
  (m, far) := measure(body, {body.at, place(b)});
  r := {m, far.x, far.y[1], far.y[2]};
end whole;

record Pair
  Real a;
  Real b;
  Real v[2];
  Real w[2];
end Pair;

record Nest
  Pair p;
  Pair list[2];
end Nest;

function swap "what is assigned is read first"
  input Real x;
  input Real y;
  output Real r[5];
protected
  Nest n;
  Pair q;
  Real k = 0;
  Real z[3] = {x, y, 1};
algorithm
  q := Pair(x, y, {x, 1}, {y, 2});
  n.p := q;
  n.list := {q, q};
  while k < x loop
    k := k + 0.7;
    q := Pair(q.b, q.a, q.w, q.v);
    n.p := Pair(n.p.b, n.p.a, n.p.w, n.p.v);
    n.list[1] := Pair(n.list[1].b, 2*n.list[1].a, n.list[1].w, n.list[2].v);
    q := if k > 1 then Pair(q.b, q.a, if x > y then q.v else q.w, if x > y then q.w else q.v) else q;
    z[{2, 3, 1}] := z;
  end while;
  r := {q.a + 10*q.v[1], n.p.a + 10*n.p.v[1], n.list[1].a + 10*n.list[1].v[1], n.list[2].b, z[1] + 10*z[2]};
end swap;

model Records
  Real x, y, r[4], q, s[5];
  Point p;
equation
  x = 1.2 + time/100;
  y = x*x + 0.5;
  r = whole(x, y);
  p = place(x*y);
  s = swap(x, y);
  (q, ) = measure(Body(x, Point(y, {x, x*y}), {Point(1, {x, 2}), Point(x, {y, y})}), {p, Point(x, {1, y})});
end Records;
