// An input that is an output.
// run: simulate --input u=1
// expect: y = 1 everywhere
model Input
  input Real u; output Real y = u;
end Input;
