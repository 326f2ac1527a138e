// Parameters of a table may change from run to run.
// run: simulate --quiet --intervals 20 --override k=5
// expect: y = 5 within 5e-6
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
    parameter Real k = 1;
    parameter Table t = Table("NoName", "NoName", [0, 0; 1, k], {2}, 1, 2);
    Real y = value(t, 1, time);
  end M;
end P;
