// A relation that depends only on time.
// expect: b = 1
// expect: b = 0 at 0.4
model Boolean_
  Boolean b = time > 0.5;
end Boolean_;
