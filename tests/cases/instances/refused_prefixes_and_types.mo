// Components that their class, their prefixes or the prefixes of their class do not allow.
// run: check
// change: Real r -> output Gain r
// expect: exit 3
// expect: says `r` is input and output, by its own prefix and the prefix of its class
// run: check
// change: Real r -> Empty r
// expect: exit 3
// expect: says `r` is of a type that has no base type: Empty
// run: check
// change: Real r -> Library r
// expect: exit 3
// expect: says `r` is a component of a package: Library
// run: check
// change: y = r -> y = r[1] | y = r[end]
// expect: exit 3
// expect: says `r` has 0 dimensions and is used with 1 subscript
// run: check
// change: constant Real c -> constant Real c(fixed = false)
// expect: exit 3
// expect: says constant `c` cannot have fixed = false
// run: check
// change: boundary = true -> boundary = initial() | boundary = terminal()
// expect: exit 3
// expect: says only parameters and constants are allowed
// run: check
// change: extends A(final k = 1) -> extends A(final k)
// change: B b -> B b(k = 2)
// expect: exit 3
// expect: says `k` is final, and cannot be modified
connector Gain = input Real;

type Empty
end Empty;

package Library
end Library;

model A
  parameter Real k = 1;
end A;

model B
  extends A(final k = 1);
end B;

model M
  Real r = time, y = r;
  constant Real c = 1;
  parameter Boolean boundary = true;
  B b;
end M;
