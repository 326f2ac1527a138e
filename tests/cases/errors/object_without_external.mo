// An external object has no value that an algorithm could compute: its constructor must be an external function.
// run: check
// expect: exit 3
// expect: 8: has an external object as output: only external functions make them
model ObjectWithoutExternal
  class Table
    extends ExternalObject;
    function constructor
      input Real size;
      output Table t;
    algorithm
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function value
    input Table t;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_minimumAbscissa(t);
  end value;
  Table t = Table(3);
  Real y = value(t);
end ObjectWithoutExternal;
