// The start value of a variable that the model prefers as a state is kept, although the variable is not differentiated. The differentiated amount is preferred, too, but its default 0 does
// not replace a concentration of 5.
// run: init
// change: StateSelect.prefer, start = 5 -> StateSelect.prefer, start = 5 | StateSelect.always, start = 5
// expect: c = 5
// expect: n = 10
// expect: V = 2
// run: init
// change: c = n/V -> c = n/V | c*V = n | n = c*V | V = n/c
// expect: c = 5
// expect: n = 10
// run: simulate
// expect: c = 5*exp(-1) within 1e-5
model Preferred
  Real c(stateSelect = StateSelect.prefer, start = 5), n(stateSelect = StateSelect.prefer, min = 0);
  Real V(stateSelect = StateSelect.prefer, start = 2);
  Real k;
equation
  der(V) = 0;
  der(n) = -n;
  c = n/V;
  k = 1/c;
end Preferred;
