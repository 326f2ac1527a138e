// A Boolean input of a component to which nothing is connected.
model LooseDiscreteInput
  // run: check
  // expect: exit 4
  // expect: 8:19: no equation determines `a.u`
  // expect: says /nothing is connected to the input a.u: connect it, or give it a value/
  model A
    input Boolean u;
    output Real y = if u then 1 else 0;
  end A;
  A a;
end LooseDiscreteInput;
