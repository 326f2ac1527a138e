// Equations, some of which are reported; the model has fewer equations than variables.
// run: check --units
// change: x1 = v; -> x1 = v; | x4 = exp(v); | der(u) = v; | w = max(v, i); | x5 = if v > i then 1 else 2; | l = d; | d = 3*time;
// expect: exit 4
// expect: says units differ
// run: check --units
// change: x1 = v; -> x2 = 1000*v; | v = sqrt(p*r); | x3 = exp(v/w); | der(q) = i; | n = v*unknown; | i = v/r + 2; | x6 = abs(v) - noEvent(w);
// expect: exit 4
// expect: never says units differ
model Units
  Real v(unit =  "V" ), w(unit =  "V" ), i(unit =  "A" ), q(unit =  "A.s" ), u(unit =  "C" ), l(unit =  "mm" ), d(unit =  "m" );
  Real n, unknown, p(unit =  "W" ), x1(unit =  "A" ), x2, x3(unit =  "1" ), x4, x5, x6;
  parameter Real r(unit =  "Ohm" ) = 1;
equation
  x1 = v;
end Units;
