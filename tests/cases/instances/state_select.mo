// A stateSelect that no choice of states can satisfy gives a warning, with --strict an error.
// run: check --model Always
// expect: exit 0
// expect: says `v` cannot be a state, though its stateSelect says always
// run: check --model Always --strict
// expect: exit 4
// run: check --model Never
// expect: exit 0
// expect: says `x` must be a state, though its stateSelect says never
// run: check --model Never --strict
// expect: exit 4
// run: check --model Both --strict
// expect: exit 0
package StateSelects
  model Always
    Real v(stateSelect = StateSelect.always) = if time < 0.5 then 1 else 5;
  end Always;
  model Never
    Real x(stateSelect = StateSelect.never);
  equation
    der(x) = time;
  end Never;
  model Both
    Real x(stateSelect = StateSelect.never);
    Real y(stateSelect = StateSelect.always);
  equation
    y = 2*x + sin(time);
    der(x) + der(y) = -x;
  end Both;
end StateSelects;
