package ReplaceableController "one loop, three controllers"
  connector RealInput = input Real;
  connector RealOutput = output Real;

  partial block Controller
    RealInput e;
    RealOutput u;
  end Controller;

  block P
    extends Controller;
    parameter Real k = 3;
  equation
    u = k*e;
  end P;

  block PI
    extends Controller;
    parameter Real k = 3, Ti = 1;
    Real x(start = 0, fixed = true);
  equation
    Ti*der(x) = k*e;
    u = k*e + x;
  end PI;

  model Plant
    RealInput u;
    RealOutput y(start = 0, fixed = true);
  equation
    der(y) = u - y;
  end Plant;

  model Loop
    parameter Real reference = 2;
    replaceable P controller constrainedby Controller;
    replaceable model PlantModel = Plant;
    PlantModel plant;
  equation
    controller.e = reference - plant.y;
    connect(controller.u, plant.u);
  end Loop;

  model Slow "a plant with another time constant"
    extends Plant(y(start = 1));
  end Slow;

  model Compare
    Loop proportional(controller(k = 4));
    Loop integral(redeclare PI controller(k = 4, Ti = 0.5));
    Loop other(redeclare model PlantModel = Slow, redeclare PI controller);
    annotation(experiment(StopTime = 10, Tolerance = 1e-8));
  end Compare;
end ReplaceableController;
