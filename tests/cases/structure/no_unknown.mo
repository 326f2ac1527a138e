model NoUnknown "an equation between parameters"
  // run: analyze
  // expect: exit 4
  // expect: report.status = "unbalanced"
  // expect: says /no_unknown.mo:11:\d+: note: .*contains no unknown/
  // expect: never says /no_unknown.mo:10:/
  parameter Real p = 3;
  Real x(start = 1);
equation
  der(x) = -x;
  2*p = 6;
end NoUnknown;
