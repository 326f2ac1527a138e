model DiscreteDeterminedTwice
  // run: check
  // expect: exit 4
  // expect: 14:5: `n` is determined a second time here
  Real x = time;
  Integer n(start = 0);
equation
  when x > 1 then
    n = 1;
  elsewhen x > 2 then
    n = 3;
  end when;
  when x > 3 then
    n = 2;
  end when;
end DiscreteDeterminedTwice;
