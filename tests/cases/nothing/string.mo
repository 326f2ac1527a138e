// A text alone.
// expect: time = 1
model Text
  parameter String s = "a";
end Text;
