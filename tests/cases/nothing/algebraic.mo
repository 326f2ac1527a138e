// An equation without a state.
// expect: x = time everywhere
model Algebraic
  Real x = time;
end Algebraic;
