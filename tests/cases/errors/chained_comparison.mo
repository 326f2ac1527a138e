model ChainedComparison
  // run: check
  // expect: exit 3
  // expect: 7:13: comparisons do not chain
  Boolean b;
equation
  b = 1 < 2 < 3;
end ChainedComparison;
