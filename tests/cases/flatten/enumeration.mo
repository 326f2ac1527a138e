package Gears
  type Gear = enumeration(reverse "backwards", neutral, first);
  function ratio
    input Gear gear;
    output Real r;
  algorithm
    r := if gear == Gear.reverse then -3 else if gear == Gear.neutral then 0 else 3.5;
  end ratio;

  model Enumeration
    // run: check
    // expect: exit 0
    // run: flatten
    // expect: line 'r[1]' = -3;
    // expect: line 'count[3]' = 3;
    // expect: line 'before' = 'gear' < 'Gear'.'first';
    constant Gear last = Gear.first;
    parameter Gear start = Gear.neutral;
    Gear gear(start = start);
    Boolean before = gear < Gear.first;
    Real r[Gear];
    Integer count[3];
    Real now = ratio(gear);
  equation
    for g in Gear loop
      r[g] = ratio(g);
      count[Integer(g)] = Integer(g);
    end for;
    when time > 1 then
      gear = last;
    end when;
  end Enumeration;
end Gears;
