// annotation(inverse(x = g(...))): if a single equation determines an argument of a function, the declared inverse solves it. The call may be on either side, in an array, or inside another
// function. A declared inverse that is not one gives a warning. At zero flow the square has no slope, and only the inverse gives the flow. An equation that determines something else stays as it is.
// run: simulate --stop-time 2 --solver {auto,radau,bdf}
// change: EXACT -> 1
// expect: mass = sqrt(time)/2 within 1e-7 everywhere
// expect: masses[1] = sqrt(time)/2 within 1e-7 everywhere
// expect: masses[2] = sqrt(2*time)/2 within 1e-7 everywhere
// expect: wrapped = sqrt(3*time)/2 within 1e-7 everywhere
// expect: loss = 4*speed^2 within 1e-9 everywhere
// expect: 4*coupled^2 + coupled = 5 + time within 1e-7 everywhere
// expect: never says inverse
// run: simulate --stop-time 2
// change: EXACT -> 1.01
// expect: mass = 1.01*sqrt(time)/2 within 1e-7 everywhere
// expect: wrapped = 1.01*sqrt(3*time)/2 within 1e-7 everywhere
// expect: loss = 4*speed^2 within 1e-9 everywhere
// expect: says is solved by the function that the annotation `inverse` names, and misses by
function loss_of
  input Real factor;
  input Real m;
  output Real dp;
algorithm
  dp := factor*m*abs(m);
  annotation(inverse(m = mass_of(factor, dp)));
end loss_of;
function mass_of
  input Real factor;
  input Real dp;
  output Real m;
algorithm
  m := sign(dp)*sqrt(abs(dp)/factor)*EXACT;
  annotation(inverse(dp = loss_of(factor, m)));
end mass_of;
function loss_of_four
  input Real m;
  output Real dp;
algorithm
  dp := loss_of(4, m);
end loss_of_four;
model DeclaredInverses
  Real mass, masses[2], wrapped, speed(start = 0, fixed = true), loss, coupled(start = 1);
equation
  loss_of(4, mass) = time;
  {time, 2*time} = {loss_of(4, masses[i]) for i in 1:2};
  3*time = loss_of_four(wrapped);
  der(speed) = 1;
  loss = loss_of(4, speed);
  loss_of(4, coupled) = 5 + time - coupled;
end DeclaredInverses;
