// Operators of records on arrays of two records and of none.
// run: simulate
// expect: d[2].b = 4
// expect: e[2].b = -2
// run: simulate
// change: c[2], d[2] = c + c, e[2] -> c[0], d[0] = c + c, e[0]
// change: 1:2 -> 1:0
// expect: time = 1
model M
  package P
    operator record Pair Real a; Real b;
      encapsulated operator '+' function f input Pair x; input Pair y; output Pair r; import M.P.Pair; algorithm r := Pair(x.a + y.a, x.b + y.b); end f; end '+';
      encapsulated operator '-' function n input Pair x; output Pair r; import M.P.Pair; algorithm r := Pair(-x.a, -x.b); end n; end '-';
    end Pair;
  end P;
  P.Pair c[2], d[2] = c + c, e[2] = -c; Real x = time;
equation
  for i in 1:2 loop c[i].a = 1; c[i].b = i*time; end for;
end M;
