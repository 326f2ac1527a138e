// A seed from the clock is the same for the whole run, however often the initial values are iterated.
// run: simulate
// expect: x = 2*time everywhere
model M
  impure function seed
    output Integer k;
    external "C" k = ModelicaRandom_automaticGlobalSeed(0.0);
  end seed;
  parameter Integer k(fixed = false), j(fixed = false);
  parameter Boolean is_automatic = true;
  Real x;
initial equation
  k = if is_automatic then seed() else 5;
  j = seed();
equation
  x = if k == j and k <> 5 then 2*time else time;
end M;
