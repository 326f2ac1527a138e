// An assertion alone.
// expect: time = 1
model Assert
equation
  assert(time < 2, "late");
end Assert;
