package PredatorPrey "Lotka and Volterra's populations, drawn with blocks"
  connector RealInput = input Real;
  connector RealOutput = output Real;

  block Integrator
    RealInput u;
    RealOutput y(start = y0, fixed = true);
    parameter Real y0 = 0;
  equation
    der(y) = u;
  end Integrator;

  block Product
    RealInput u1, u2;
    RealOutput y = u1*u2;
  end Product;

  block Add
    RealInput u1, u2;
    RealOutput y;
    parameter Real k1 = 1, k2 = 1;
  equation
    y = k1*u1 + k2*u2;
  end Add;

  model Ecosystem
    parameter Real a = 1.1, b = 0.4, c = 0.1, d = 0.4;
    Integrator prey(y0 = 10), predator(y0 = 5);
    Product meetings;
    Add preyRate(k1 = a, k2 = -b), predatorRate(k1 = -d, k2 = c);
    Real invariant = c*prey.y - d*log(prey.y) + b*predator.y - a*log(predator.y);
  equation
    connect(prey.y, meetings.u1);
    connect(predator.y, meetings.u2);
    connect(prey.y, preyRate.u1);
    connect(meetings.y, preyRate.u2);
    connect(predator.y, predatorRate.u1);
    connect(meetings.y, predatorRate.u2);
    connect(preyRate.y, prey.u);
    connect(predatorRate.y, predator.u);
    annotation(experiment(StopTime = 30, Tolerance = 1e-9));
  end Ecosystem;
end PredatorPrey;
