// 7
model L
  Real y;
algorithm
  y := time;
  for i in 1:24 loop
    y := sin(y)*cos(y);
  end for;
end L;
