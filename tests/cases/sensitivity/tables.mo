// Derivatives through a table. One that is made of a parameter has no derivative with respect to it, one that jumps is named where it does; lines between the points are
// followed: with x = p t, dy/dp = integral of t T'(t), which is 3/2 + 3 - 45/8 for the points (0, 0), (1, 3), (2, 5), (3, 0) up to 2.5.
// run: simulate --quiet --stop-time 2.5 --sensitivity k
// expect: exit 2
// expect: says the external object `t` depends on a parameter of the sensitivities
// run: simulate --quiet --stop-time 2.5 --gradient y --gradient-by k
// expect: exit 2
// expect: says the external object `t` depends on a parameter of the sensitivities
// run: simulate --quiet --stop-time 2.5 --sensitivity p --override k=5 --tolerance 1e-9 --solver {radau,erk,bdf}
// expect: column("der(y, p)") = -1.125 within 2e-5
// run: simulate --quiet --stop-time 2.5 --sensitivity p --solver {radau,erk,bdf}
// change: {2}, 1, 2 -> {2}, 3, 2
// expect: exit 6
// expect: says the function `value` jumps there
package P

  class Table extends ExternalObject;
    function constructor
      input String fileName; input String tableName; input Real table[:,:]; input Integer columns[:];
      input Integer smoothness; input Integer extrapolation;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2(fileName, tableName, table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, extrapolation, false);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function value
    input Table t; input Integer column; input Real u; output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u);
    annotation(derivative = slope);
  end value;
  function slope
    input Table t; input Integer column; input Real u; input Real du; output Real dy;
    external "C" dy = ModelicaStandardTables_CombiTable1D_getDerValue(t, column, u, du);
  end slope;


  model M
    parameter Real k = 1, p = 1;
    parameter Table t = Table("NoName", "NoName", [0, 0; 1, 3; 2, k; 3, 0], {2}, 1, 2);
    Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  equation
    der(x) = p;
    der(y) = value(t, 1, x);
  end M;
end P;
