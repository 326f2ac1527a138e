// Text that the language forbids, but whose meaning is clear, gives a warning; --strict refuses it.
// run: simulate --stop-time 1
// expect: says warning: a package cannot extend a model: `Icon` [D912]
// expect: says warning: `Library.Interfaces` is partial: `Base` cannot be looked up in it [D912]
// expect: says warning: `u` has a condition: it can be connected, but not used here [D912]
// expect: x = 2*exp(-1) within 1e-5
// expect: twice = 2*x within 1e-9 everywhere
// run: simulate --strict
// expect: exit 3
// expect: says error: a package cannot extend a model: `Icon` [D311]
// run: check --strict
// change: extends Icon; -> constant Real c = 1;
// expect: exit 3
// expect: says error: `Library.Interfaces` is partial: `Base` cannot be looked up in it [D309]
// run: check --strict
// change: extends Icon; -> constant Real c = 1;
// change: partial package -> package
// expect: exit 3
// expect: says error: `u` has a condition: it can be connected, but not used here
model Icon
  annotation(Icon(graphics = {}));
end Icon;

package Library
  extends Icon;
  partial package Interfaces
    partial model Base
      Real x(start = 2, fixed = true);
    end Base;
  end Interfaces;
  model Decay
    extends Library.Interfaces.Base;
  equation
    der(x) = -x;
  end Decay;
end Library;

model Lenient
  extends Library.Decay;
  parameter Boolean has_u = true;
  Real u = 2*x if has_u;
  Real twice = u;
end Lenient;
