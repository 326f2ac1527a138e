// C text has no tables.
// run: simulate --compile
// expect: exit 3
// expect: says cannot be written as C
// run: export --c c
// expect: exit 3
// expect: says cannot be written as C
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
    parameter Table t = Table("NoName", "NoName", [0, 0; 1, 1], {2}, 1, 2);
    Real y = value(t, 1, time), x(start = 1, fixed = true);
  equation
    der(x) = y - x;
  end M;
end P;
