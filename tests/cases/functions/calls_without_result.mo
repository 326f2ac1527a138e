// A call without a result gives no equation, in algorithm and in equation sections: a warning says so, and its assertions are checked.
// run: simulate --stop-time 1
// change: CALL -> check(x/10); | when x > 0.5 then check(x/10); end when; | if time > 0.5 then check(x/10); end if;
// change: PART -> algorithm | equation
// expect: x = time within 1e-9
// expect: says this call returns nothing; assertions in it are kept, but other effects are left out
// run: simulate --stop-time 10
// change: CALL -> check(x/10); | if time > 0.5 then check(x/10); end if;
// change: PART -> algorithm | equation
// expect: exit 6
// expect: says assertion failed at time 5
function check
  input Real x;
algorithm
  assert(x < 0.5, "x is too large");
end check;
model CallsWithoutResult
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
PART
  CALL
end CallsWithoutResult;
