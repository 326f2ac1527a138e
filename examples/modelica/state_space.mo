package StateSpace "a block with matrices whose sizes follow from the values bound to them"
  connector RealInput = input Real;
  connector RealOutput = output Real;

  block System "x' = A x + B u, y = C x + D u"
    parameter Real A[:, size(A, 1)];
    parameter Real B[size(A, 1), :];
    parameter Real C[:, size(A, 1)];
    parameter Real D[size(C, 1), size(B, 2)] = zeros(size(C, 1), size(B, 2));
    RealInput u[size(B, 2)];
    RealOutput y[size(C, 1)];
    Real x[size(A, 1)](each start = 0, each fixed = true);
  equation
    der(x) = A*x + B*u;
    y = C*x + D*u;
  end System;

  block Mean
    parameter Integer n;
    RealInput u[n];
    RealOutput y = sum(u)/n;
  end Mean;

  model Coupled
    System oscillator(A = [0, 1; -25, -2], B = [0; 25], C = [1, 0; 0, 1]);
    System filter(A = [-3], B = [3, 3], C = [1], D = [0.5, 0]);
    Mean mean(n = 2);
  equation
    oscillator.u = {1};
    connect(oscillator.y, filter.u);
    connect(oscillator.y[1], mean.u[1]);
    connect(filter.y[1], mean.u[2]);
    annotation(experiment(StopTime = 2, Tolerance = 1e-9));
  end Coupled;
end StateSpace;
