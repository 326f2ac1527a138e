// A choice that several others share has a name, even after an else: otherwise the length of the text would grow with the square of their number.
// run: flatten
// expect: prints then '$2' + 1 else '$2';
// expect: prints then '$38' + 1 else '$38'
// expect: size(stdout) < 6000
// run: flatten | simulate --stop-time 50
// expect: x = 40
// expect: x = 10 at 10.5
model SharedChoices
  Real x;
algorithm
  x := 0;
  for i in 1:40 loop
    if time > i then
      x := x + 1;
    end if;
  end for;
end SharedChoices;
