// A connector without a connection: an equation is missing.
// expect: exit 4
// expect: says 1 equation for 2 variables: 1 too few
package P
  connector C
    Real e;
    flow Real f;
  end C;
  model M
    C c;
  end M;
end P;
