// A replaceable class that two base classes declare with different defaults is one class if it is redeclared.
// expect: a.y = 4
// expect: a.z = 4
// expect: never says warning
// run: check
// change: A a(redeclare package Medium = Air) -> A a
// expect: exit 0
// expect: says `Medium` is declared twice, and both have their own defaults
package Water
  constant Integer n = 1;
end Water;

package Oil
  constant Integer n = 1;
end Oil;

package Air
  constant Integer n = 4;
end Air;

model Port
  replaceable package Medium = Water;
  Real y = Medium.n;
end Port;

model Index
  replaceable package Medium = Oil;
  Real z = Medium.n;
end Index;

model A
  extends Port;
  extends Index;
end A;

model M
  A a(redeclare package Medium = Air);
end M;
