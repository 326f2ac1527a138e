// x .* y is computed element by element, although there is a function for x * y of vectors.
// expect: s[2].v = 6
// expect: p.v = 8
operator record Number
  Real v;
  encapsulated operator '*'
    import Number;
    function scalar
      input Number a;
      input Number b;
      output Number c;
    algorithm
      c := Number(a.v*b.v);
    end scalar;
    function vectors
      input Number a[:];
      input Number b[size(a, 1)];
      output Number c;
    algorithm
      c := Number(0);
      for i in 1:size(a, 1) loop
        c.v := c.v + a[i].v*b[i].v;
      end for;
    end vectors;
  end '*';
end Number;

model M
  Number x[2] = {Number(1), Number(2)}, y[2] = {Number(2*time), Number(3)}, s[2], p;
equation
  s = x .* y;
  p = x*y;
end M;
