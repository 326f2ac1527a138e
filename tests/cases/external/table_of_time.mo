// A table over time, from the start time on, and one in two dimensions.
// run: simulate --quiet --intervals 20 --stop-time 1
// expect: y = (0 if time < 0.5 else (time - 0.25)^2) within 1e-12 everywhere
// expect: z = 2*time^2 within 1e-12*max(1, 2*time^2) everywhere
// expect: x = exp(time) - 1 within 1e-4*max(1, exp(time) - 1) everywhere
package P
  class TimeTable extends ExternalObject;
    function constructor
      input Real table[:,:]; input Real startTime; input Integer columns[:]; input Integer smoothness;
      input Integer extrapolation; input Real shiftTime; input Integer timeEvents;
      output TimeTable t;
      external "C" t = ModelicaStandardTables_CombiTimeTable_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        startTime, columns, size(columns, 1), smoothness, extrapolation, shiftTime, timeEvents, false);
    end constructor;
    function destructor
      input TimeTable t;
      external "C" ModelicaStandardTables_CombiTimeTable_close(t);
    end destructor;
  end TimeTable;
  function timeValue
    input TimeTable t; input Integer column; input Real time_; input Real next; input Real before; output Real y;
    external "C" y = ModelicaStandardTables_CombiTimeTable_getValue(t, column, time_, next, before);
  end timeValue;
  class Surface extends ExternalObject;
    function constructor
      input Real table[:,:]; input Integer smoothness; input Integer extrapolation; output Surface t;
      external "C" t = ModelicaStandardTables_CombiTable2D_init2("NoName", "NoName", table, size(table, 1), size(table, 2),
        smoothness, extrapolation, false);
    end constructor;
    function destructor
      input Surface t;
      external "C" ModelicaStandardTables_CombiTable2D_close(t);
    end destructor;
  end Surface;
  function height
    input Surface t; input Real u; input Real v; output Real y;
    external "C" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v);
  end height;


  model M
    parameter TimeTable t = TimeTable([0, 0; 1, 1; 2, 4; 3, 9], 0.5, {2}, 2, 2, 0.25, 3);
    parameter Surface s = Surface([0, 0, 1, 2; 0, 0, 0, 0; 1, 0, 1, 2; 3, 0, 3, 6], 2, 2);
    Real y = timeValue(t, 1, time, 0, 1), z = height(s, time, 2*time), x(start = 0, fixed = true);
  equation
    der(x) = height(s, 1, x) + 1;
  end M;
end P;
