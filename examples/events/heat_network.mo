model HeatNetwork "two pipes of different length side by side, and a pump that reverses"
  parameter Real T_hot = 80, T_cold = 20, T_back = 40, t_cold = 2 "when the source gets cold", t_turn = 3 "when the pump turns";
  parameter Real V[2] = {0.5, 1} "volumes of the pipes, each of which takes half of the flow";
  Real q "from the source to the house", x[2](each start = 0, each fixed = true);
  Real T_source, T_left[2], T_right[2];
  Real T_return "what comes back to the source, or leaves it";
  Real T_house "what comes to the house, or leaves it";
  Real E(start = T_cold*(V[1] + V[2]), fixed = true) "content of both pipes";
equation
  q = if time < t_turn then 1 else -1;
  T_source = if time < t_cold then T_hot else T_cold;
  for i in 1:2 loop
    der(x[i]) = q/(2*V[i]);
    (T_left[i], T_right[i]) = spatialDistribution(T_source, T_back, x[i], q >= 0, {0, 1}, {T_cold, T_cold});
  end for;
  T_return = (T_left[1] + T_left[2])/2;
  T_house = (T_right[1] + T_right[2])/2;
  der(E) = q*(T_return - T_house);
  annotation(experiment(StopTime = 6));
end HeatNetwork;
