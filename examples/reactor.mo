model Reactor "how to cool an exothermic stirred tank so that its concentration follows a given course: index 3"
  // The form of Estevez Schwarz, (15) to (18), with numbers of a textbook reactor. The concentration is prescribed, so
  // that the balances give the reaction rate, the rate law gives the temperature, and the heat balance gives the
  // temperature of the coolant. So there is no degree of freedom, and nothing to initialize. The starts are guesses.
  parameter Real K1(unit = "1/min") = 1 "flow through the tank over its volume";
  parameter Real K2(unit = "K.l/mol") = 209 "rise of temperature by reaction";
  parameter Real K3(unit = "1/min") = 7.2e10 "rate constant";
  parameter Real K4(unit = "K") = 8750 "activation energy over the gas constant";
  parameter Real K5(unit = "1/min") = 2.09 "heat transfer to the coolant";
  parameter Real Cf(unit = "mol/l") = 1 "concentration of the feed";
  parameter Real Tf(unit = "K") = 350 "temperature of the feed";
  Real C(unit = "mol/l", start = 0.5) "concentration";
  Real R(unit = "mol/(l.min)", start = 0.5) "reaction rate";
  Real T(unit = "K", start = 350, nominal = 100) "temperature of the tank";
  Real Tc(unit = "K", start = 300, nominal = 100) "temperature of the coolant";
equation
  der(C) = K1*(Cf - C) - R;
  C = 0.5 + 0.1*sin(time);
  der(T) = K1*(Tf - T) + K2*R - K5*(T - Tc);
  R = K3*exp(-K4/T)*C;
  annotation(experiment(StopTime = 20, Tolerance = 1e-7));
end Reactor;
