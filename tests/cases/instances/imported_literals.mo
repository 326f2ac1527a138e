// Literals of enumerations are imported by name, under another name, in a list, or all at once; the type may be declared in a model.
// run: simulate --model P.M --stop-time 1
// expect: a.x = 1
// expect: x = 31
package P
  model A
    encapsulated type Options = enumeration(Free, Fixed);
    parameter Options init = Options.Free;
    Real x = if init == Options.Fixed then 1 else 2;
  end A;
  package Q
    type Color = enumeration(red, green, blue);
    type Size = enumeration(small, large);
    type Side = enumeration(left, right);
  end Q;
  model M
    import P.A.Options.Fixed;
    import P.Q.Color.green;
    import sky = P.Q.Color.blue;
    import P.Q.Size.{small, large};
    import P.Q.Side.*;
    A a(init = Fixed);
    parameter Q.Color c = green, d = sky;
    Q.Size s = if time > 0.5 then large else small;
    parameter Q.Side side = right;
    Real x = Integer(c) + 3*Integer(d) + 4*Integer(s) + 12*(if side == right then 1 else 0);
  end M;
end P;
