// run: check
// expect: exit 3
// expect: 8:9: a when that has no clock
model M
  Real x;
equation
  when time > 1 then
    x = previous(x) + 1;
  end when;
end M;
