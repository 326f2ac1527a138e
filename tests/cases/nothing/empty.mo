// No variable and no equation.
// expect: time = 1
model Empty
end Empty;
