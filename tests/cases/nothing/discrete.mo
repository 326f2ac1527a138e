// A discrete variable alone.
// expect: n = 4
model Discrete
  discrete Integer n(start = 0, fixed = true);
equation
  when sample(0, 0.3) then n = pre(n) + 1; end when;
end Discrete;
