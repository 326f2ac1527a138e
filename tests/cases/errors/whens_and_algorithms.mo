// Statements that are not allowed in whens, loops and functions.
// run: check
// change: when x > 1 then -> when noEvent(x > 1) then | when not noEvent(x > 1) then
// expect: exit 3
// expect: says the condition of a when causes events: noEvent() is not allowed around it
// run: check
// change: when time > 1 then -> when noEvent(time > 1) then
// expect: exit 3
// expect: says the condition of a when causes events
// run: check
// change: n = 2; -> m = 2; | n = 2; m = 3;
// change: discrete Integer n -> discrete Integer m(start = 0); discrete Integer n
// expect: exit 3
// expect: says all must determine the same variables
// run: check
// change: s := s + i; -> i := 1;
// expect: exit 3
// expect: says `i` is an iterator, and cannot be assigned
// run: check
// change: s := s + i; -> when x > 2 then s := 1; end when;
// expect: exit 3
// expect: says a when of an algorithm is not allowed in an if, for, while or when
// run: check
// change: y := 2*x; -> terminate("no"); y := 2*x;
// expect: exit 3
// expect: says terminate cannot be used in a function
// run: check
// change: (a, b) = f(x); -> (a + 1, b) = f(x);
// expect: exit 3
// expect: says only variables are allowed on this side
// run: check
// change: Real x(start = 0, fixed = true), a, b; -> Real x(start = 0, fixed = true), a; Integer b;
// expect: exit 3
// expect: says output 2 is Real, the left side is Integer
// run: check
// change: E.one:E.two -> E.one:E.one:E.two
// expect: exit 3
// expect: says a range of E has no step
function f
  input Real x;
  output Real y;
  output Real z;
algorithm
  y := 2*x;
  z := x;
end f;

model M
  type E = enumeration(one, two);
  Real x(start = 0, fixed = true), a, b;
  discrete Integer n(start = 0, fixed = true);
  Real s, k(start = 0);
  E e[2] = E.one:E.two;
equation
  der(x) = 1;
  (a, b) = f(x);
  when x > 1 then
    n = 1;
  elsewhen x > 2 then
    n = 2;
  end when;
algorithm
  s := 0;
  for i in 1:2 loop
    s := s + i;
  end for;
algorithm
  when time > 1 then
    k := 2;
  end when;
end M;
