model OverdeterminedPair "three equations for p and q; none for u"
  // run: analyze
  // expect: exit 4
  // expect: report.status = "singular"
  // expect: says /three equations determine only two variables: p and q/
  // expect: says /overdetermined_pair.mo:16:\d+: note: equation/
  // expect: says /overdetermined_pair.mo:18:\d+: note: equation/
  // expect: says /overdetermined_pair.mo:19:\d+: note: equation/
  // expect: says /no equation determines u/
  // expect: never says /overdetermined_pair.mo:17:/
  Real p;
  Real q;
  Real u;
  Real w(start = 1);
equation
  p + q = 1;
  der(w) = p - w;
  p - q = time;
  p*q = 2;
end OverdeterminedPair;
