// A discrete value that is not defined is an error with the name of the variable; the old value is not used.
// run: simulate
// expect: exit 6
// expect: says the value of held is not defined
// expect: says `sqrt(0.4 - time)`: square root of a negative number
// run: simulate
// change: time > 0.5 then held = sqrt(0.4 - time); -> initial() then held = log(x - 1);
// expect: exit 5
// expect: says the value of held is not defined
// expect: says `log(x - 1)`: logarithm of a number that is not positive
// run: simulate
// change: time > 0.5 then held = sqrt(0.4 - time); -> sample(0.25, 0.25) then held = 1/(0.5 - time);
// expect: exit 6
// expect: says the value of held is not defined
// expect: says `1/(0.5 - time)`: division by zero
model U
  Real x(start = 1, fixed = true);
  discrete Real held;
equation
  der(x) = -x;
  when time > 0.5 then held = sqrt(0.4 - time); end when;
end U;
