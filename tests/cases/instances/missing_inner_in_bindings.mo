// A missing inner component is added to the model with its defaults, so bindings and sizes can refer to it.
// run: simulate --stop-time 1
// expect: says there is no `inner` component for `outer system`
// expect: a[2].x[1] = 300 within 1e-9
// expect: b.x[1] = 3 within 1e-9
// run: simulate --stop-time 1 --override system.T=200
// expect: a[2].x[1] = 200 within 1e-9
package Library
  model System
    parameter Real T = 300;
  end System;
  partial model Base
    outer Library.System system;
    parameter Real T0 = system.T;
  end Base;
  model Volume
    extends Base;
    parameter Real x0[:] = {T0, 1};
    Real x[size(x0, 1)](start = x0, each fixed = true);
  equation
    der(x) = {0, -x[2]};
  end Volume;
end Library;

model Plant
  Library.Volume a[2];
  Library.Volume b(T0 = 3);
end Plant;
