model RS
  Real x(start=1), y(start=0), z;
equation
  der(x) = -x + z;
  if time < 0.5 then
    der(y) = x; z = y;
  else
    y = sin(time); z= x+y;
  end if;
end RS;
