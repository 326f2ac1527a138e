model Records
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'sum.re' = 'z[1].re' + 'z[2].re';
  // expect: line 'sum.im' = 'z[1].im' + 'z[2].im';
  // expect: line 'z[2].im' = time;
  // expect: line 'segment.from.re' = 1;
  record Complex
    Real re;
    Real im;
  end Complex;
  record Offset
    Real re;
    Real im = 0;
  end Offset;
  record Segment
    Complex from;
    Complex to;
  end Segment;
  function add
    input Complex a;
    input Complex b;
    output Complex c = Complex(a.re + b.re, a.im + b.im);
  algorithm
  end add;
  Complex z[2], sum;
  Segment segment;
  parameter Offset offset = Offset(1);
equation
  z = {Complex(offset.re, offset.im), Complex(re = 2, im = time)};
  sum = add(z[1], z[2]);
  segment = Segment(from = Complex(1, 2), to = z[2]);
end Records;
