// Names of one constant.
// expect: y = x everywhere
// expect: z = -x everywhere
model Alias
  Real x = 1; Real y = x; Real z = -y;
end Alias;
