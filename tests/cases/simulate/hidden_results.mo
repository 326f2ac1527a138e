// Protected variables and those with HideResult are left out of MAT files unless they are states, or are requested (test_files.py). Variables inside a hidden component are hidden. CSV files
// have all variables.
// run: simulate --output-file -
// expect: line time,a.x,der(a.x),a.shown,a.away,a.z,a.open,a.s,der(a.s),y,b.x,der(b.x),b.shown,b.away,b.z,b.open,b.s,der(b.s),d
// run: simulate --output-file - --variables b.z,d
// expect: line time,b.z,d
// run: simulate --plot-variables a.z --plot -
// expect: prints a.z
// run: simulate --output-file - --short --intervals 2 --variables 'a.x,der(a.x),a.shown,a.open,a.s,y,b.x,b.s'
// expect: line 1,0.36787944,-0.36787944,0.73575888,2.3678794,1.6321206,0.36787944,0.36787944,1.6321206
// run: simulate --invariant a.z
// expect: says drift of a.z
model Hidden
  model A
    Real x(start = 1, fixed = true);
    Real shown = 2*x;
    Real away = 3*x annotation(HideResult = true);
  protected
    Real z = x + 1;
    Real open = x + 2 annotation(HideResult = false);
    Real s(start = 0, fixed = true);
  equation
    der(x) = -x;
    der(s) = z;
  end A;
  A a;
  Real y = a.x;
protected
  A b;
  discrete Real d;
equation
  when time > 0.5 then
    d = 1;
  end when;
end Hidden;
