// run: check
// expect: exit 3
// expect: 8:5: another one
model M
  Real x;
equation
  when Clock(0.1) then
    when Clock(0.1) then
      x = sample(time);
    end when;
  end when;
end M;
