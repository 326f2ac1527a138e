model ChainedComparison
  // expect: exit 3
  // expect: 6:13: comparisons do not chain
  Boolean b;
equation
  b = 1 < 2 < 3;
end ChainedComparison;
