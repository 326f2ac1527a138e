// Functions with two bodies, operators that calls cannot distinguish, external objects with elements that are not allowed.
// run: check --strict
// change: extends base; -> extends base; algorithm y := 2*x;
// expect: exit 3
// expect: says inherits another body
// run: check
// change: "C" -> "fish"
// expect: exit 3
// expect: says `fish` is not a language of external functions
// run: check
// change: input N b -> input Real b
// expect: exit 3
// expect: says functions `one` and `two` take the same inputs
// run: check --strict
// change: encapsulated operator -> operator
// expect: exit 3
// expect: says operator `+` must be encapsulated
// run: check
// change: function destructor -> replaceable function destructor
// expect: exit 3
// expect: says `destructor` of an external object cannot be replaceable
// run: check
// change: object = Object(1) -> object = Object.constructor(1)
// expect: exit 3
// expect: says only the object itself calls `constructor` of an external object
function base
  input Real x;
  output Real y;
algorithm
  y := x;
end base;

function derived
  extends base;
end derived;

operator record N
  Real v;
  encapsulated operator '+'
    import N;
    function one
      input N a;
      input Real b;
      output N c = N(a.v + b);
    algorithm
    end one;
    function two
      input N a;
      input N b;
      output N c = N(a.v);
    algorithm
    end two;
  end '+';
end N;

class Object
  extends ExternalObject;
  function constructor
    input Integer i;
    output Object object;
    external "C" object = make(i);
  end constructor;
  function destructor
    input Object object;
    external "C" unmake(object);
  end destructor;
end Object;

model M
  Object object = Object(1);
  N n = N(1) + 2.0;
  Real z = derived(time);
end M;
