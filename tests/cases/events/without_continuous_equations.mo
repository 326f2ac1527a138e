// run: simulate
// expect: [n, m, odd] = [13, 5, 1]
model Counter
  Integer n(start = 3, fixed = true), m(start = 0, fixed = true);
  Boolean odd;
equation
  odd = mod(n, 2) == 1;
  when sample(0.05, 0.1) then
    n = pre(n) + 1;
  end when;
  when odd then
    m = pre(m) + 1;
  end when;
end Counter;
