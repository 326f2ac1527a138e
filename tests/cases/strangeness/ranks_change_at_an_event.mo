// A degree of freedom is lost at 0.5: the run stops and says so.
// run: simulate --method strangeness
// expect: exit 6
// expect: says ranks
// expect: says 0.5
model M
  Real x(start = 1, fixed = true);
  equation (if time < 0.5 then der(x) + x else x - 1) = 0;
end M;
