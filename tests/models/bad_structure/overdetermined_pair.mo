model OverdeterminedPair "three equations for p and q; none for u"
  // expect: exit 4
  // expect: status singular
  // expect: message three equations determine only two variables: p and q
  // expect: message overdetermined_pair.mo:15:\d+: note: equation
  // expect: message overdetermined_pair.mo:17:\d+: note: equation
  // expect: message overdetermined_pair.mo:18:\d+: note: equation
  // expect: message no equation determines u
  // reject: overdetermined_pair.mo:16:
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
