// run: analyze
// expect: report.singular_blocks[0].verdict = "here"
// expect: report.singular_blocks[0].rank = 0
// expect: report.singular_blocks[0].variables = ["z"]
// run: simulate
// expect: exit 6
// expect: report.singular.time = 0
// expect: report.singular.rank = 0
// expect: says y^2 + z^2 = 1
// run: analyze
// change: z(start = 0) -> z(start = 0.1)
// expect: report.singular_blocks = []
model M
  Real y(start = 1, fixed = true), z(start = 0);
equation
  der(y) = z;
  y^2 + z^2 = 1;
end M;
