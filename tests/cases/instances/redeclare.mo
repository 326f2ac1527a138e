// run: simulate --stop-time 1
// expect: a.z = 1 within 1e-05
// expect: b.z = 5 within 5e-05
// expect: c[2].z = 7 within 7e-05
package P
  partial model I
    Real y;
  end I;
  model One
    extends I;
  equation
    y = 1;
  end One;
  model Two
    extends I;
    parameter Real k = 2;
  equation
    y = k;
  end Two;
  model Holder
    replaceable One part constrainedby I;
    Real z = part.y;
  end Holder;
  model M
    Holder a;
    Holder b(redeclare Two part(k = 5));
    Holder c[2](redeclare each Two part(k = 7));
  end M;
end P;
