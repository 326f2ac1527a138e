model Steady "steady state of a nonlinear system"
  // expect exit 0
  // expect value T 2
  // expect how T computed
  Real T(min = 0.1);
initial equation
  der(T) = 0;
equation
  der(T) = 16 - T^4;
end Steady;
