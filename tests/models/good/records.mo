model Records
  // expect: 'sum.re' = 'z[1].re' + 'z[2].re';
  // expect: 'sum.im' = 'z[1].im' + 'z[2].im';
  // expect: 'z[2].im' = time;
  // expect: 'segment.from.re' = 1;
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
