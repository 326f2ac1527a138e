// A connection holds at all times.
model ConnectInInitialEquation
  // run: check
  // expect: exit 3
  // expect: 13:3: connect
  connector C
    Real e;
    flow Real f;
  end C;
  C a, b;
equation
initial equation
  connect(a, b);
end ConnectInInitialEquation;
