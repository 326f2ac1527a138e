// run: check
// expect: exit 3
// expect: 7:3: an elsewhen
model M
  Real x;
equation
  when Clock(0.1) then
    x = sample(time);
  elsewhen time > 1 then
    x = 2;
  end when;
end M;
