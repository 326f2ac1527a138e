// The curve of bead.mo as a formula.
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
    parameter Real squares[:,2] = [-2, 4; -1, 1; 0, 0; 1, 1; 2, 4];
    parameter Table t = Table("NoName", "NoName", squares, {2}, 2, 2);
    Real x(start = 1, fixed = true), y, vx(start = 0, fixed = true), vy, f, e = vx^2/2 + vy^2/2 + 10*y;
  equation
    der(x) = vx;
    der(y) = vy;
    der(vx) = -2*x*f;
    der(vy) = f - 10;
    y = x^2;
  end M;
end P;
