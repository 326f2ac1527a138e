model Contradiction "Two sources in parallel that do not agree"
  // run: simulate
  // expect: exit 4
  // run: analyze
  // expect: exit 4
  // expect: [size(block.equations) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.rank = [1]
  // expect: [size(block.variables) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.verdict = ["identical"]
  // expect: min(report.singular_blocks.points) >= 3
  Real v1, v2, i;
equation
  v1 - v2 = 5;
  v1 - v2 = 3;
  i = v1;
end Contradiction;
