//! base 0.1.0
package 'Table'
  // An external object and external functions are read, typed and kept.
  class 'Table.Handle'
    extends ExternalObject;
    function constructor
      input Real 'data'[:, :];
      input String 'name' = "none";
      output 'Table.Handle' 'handle';
    external "C" 'handle' = open_table('data', size('data', 1), size('data', 2), 'name');
    end constructor;
    function destructor
      input 'Table.Handle' 'handle';
    external "C" close_table('handle');
    end destructor;
  end 'Table.Handle';

  function 'value'
    input 'Table.Handle' 'handle';
    input Real 'u';
    output Real 'y';
  external "C" 'y' = look_up('handle', 'u') annotation(Library = "tables");
  end 'value';

  model 'Table'
    // run: check
    // expect: exit 0
    // run: flatten
    // expect: line 'y' = 2*'value'('handle', time);
    parameter 'Table.Handle' 'handle' = 'Table.Handle'({{0.0, 1.0}, {1.0, 4.0}});
    Real 'y';
  equation
    'y' = 2.0 * 'value'('handle', time);
  end 'Table';
end 'Table';
