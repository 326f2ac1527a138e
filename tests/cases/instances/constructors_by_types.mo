// Several constructors take one argument, whose type decides which is used. The same holds for a String function with its own argument.
// expect: a = 3
// expect: b = 12
// expect: c = 50
// expect: d = 2
// expect: e = 104
// expect: f = 7
operator record Sum
  Real v;
  Real names[:, 2] = fill(0, 0, 2);
  encapsulated operator 'constructor'
    import Sum;
    import Point;
    function fromVector
      input Real x[:];
      input Real factor = 1;
      output Sum s(redeclare Real names[0, 2]);
    algorithm
      s.v := factor*sum(x);
    end fromVector;
    function fromReal
      input Real x;
      input Integer times = 1;
      output Sum s(redeclare Real names[0, 2]);
    algorithm
      s.v := times*x;
    end fromReal;
    function fromPoints
      input Point x[:];
      output Sum s(redeclare Real names[0, 2]);
    algorithm
      s.v := sum(x[i].x*x[i].y for i in 1:size(x, 1));
    end fromPoints;
  end 'constructor';
  encapsulated operator function 'String'
    import Sum;
    input Sum s;
    input String name = "x";
    output String text = name + String(s.v);
  end 'String';
end Sum;

record Point
  Real x, y;
end Point;

function values "The constructors in a function, where the sizes are not known"
  input Real x[:];
  input Point p[:];
  output Real y[3];
protected
  Sum s = Sum(x), t = Sum(p), u;
algorithm
  u := Sum(x[1]);
  y := {s.v, t.v, u.v};
end values;


model M
  Real a, b, c, d, e, f;
  Real three[3] = values({1, 2, 4}, {Point(1, 2), Point(3, 4)});
equation
  a = Sum({1, 2*time}).v;
  b = Sum(3*time, times = 4).v;
  c = Sum({2, 3}, factor = 10).v;
  d = three[3] + 1;
  e = three[2] + 90;
  f = three[1];
end M;
