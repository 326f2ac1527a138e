// A function may have the name of an operator on states; getInstanceName() in a function is the name of the function.
// expect: x = 4
// expect: y = 1
function initialState
  input Real seed;
  output Real y = 2*seed;
algorithm
end initialState;

package P
  function own_name
    output Boolean is_it;
  algorithm
    is_it := getInstanceName() == "P.own_name";
  end own_name;
end P;

model M
  parameter Real seed = 2;
  Real x = initialState(seed)*time;
  Real y = if P.own_name() then 1 else 0;
end M;
