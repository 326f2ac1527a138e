// An enumeration that is declared in a model is one type, for every path that leads to it.
// expect: limiter.y = 2
// expect: b[2].y = 1
model Limiter
  type State = enumeration(low, middle, high);
  parameter State start = State.low;
  Integer y = Integer(start);
end Limiter;

model Outer
  parameter Limiter.State state = Limiter.State.middle;
  Limiter limiter(start = state);
  Limiter b[2](start = {Limiter.State.high, Limiter.State.low});
end Outer;
