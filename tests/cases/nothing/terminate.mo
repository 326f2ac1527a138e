// An end alone.
// expect: says the model ends the run at time 0.5
// expect: time = 0.5
model Terminate
equation
  when time > 0.5 then terminate("done"); end when;
end Terminate;
