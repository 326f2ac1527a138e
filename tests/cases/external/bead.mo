// A bead on a curve that a table gives (index 3), against the same curve as a formula.
// run: simulate --quiet --intervals 20 --stop-time 2 --tolerance 1e-9
// reference: files/bead.mo simulate --quiet --intervals 20 --stop-time 2 --tolerance 1e-9
// expect: x = reference.x within 1e-6*max(1, abs(reference.x)) everywhere
// expect: y = reference.y within 1e-6*max(1, abs(reference.y)) everywhere
// expect: vx = reference.vx within 1e-6*max(1, abs(reference.vx)) everywhere
// expect: f = reference.f within 1e-6*max(1, abs(reference.f)) everywhere
// run: flatten
// expect: exit 0
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
    y = value(t, 1, x);
  end M;
end P;
