model NoUnknown "an equation between parameters"
  // expect: exit 4
  // expect: status unbalanced
  // expect: message no_unknown.mo:10:\d+: note: .*contains no unknown
  // reject: no_unknown.mo:9:
  parameter Real p = 3;
  Real x(start = 1);
equation
  der(x) = -x;
  2*p = 6;
end NoUnknown;
