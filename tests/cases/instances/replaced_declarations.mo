// A redeclaration takes over the modifications of the first declaration, if that is a component or a short class (section 7.3.2). It does not take over those of redeclarations in between,
// nor those of `model extends`, because their names belong to the replaced class.
// expect: values[1] = 7
// expect: values[2] = 5
// expect: values[3] = 2
package Base
  replaceable model Properties
    parameter Boolean is_state = false;
    parameter Real x = 1, y = 1;
  end Properties;
end Base;

package Middle
  extends Base;
  redeclare replaceable model extends Properties(x = if is_state then 3 else 5)
  end Properties;
end Middle;

package Last
  extends Middle;
  redeclare model Properties
    parameter Boolean is_state = true;
    parameter Real x = 7, y = 1;
  end Properties;
end Last;

model Volume
  replaceable package Medium = Base;
  Medium.Properties p;
end Volume;

model First
  replaceable parameter Real z = 1;
end First;

model Second
  extends First;
  redeclare replaceable parameter Real z(min = 0);
end Second;

model M
  Volume a(redeclare package Medium = Last);
  Volume b(redeclare package Medium = Middle);
  Second c(redeclare parameter Real z = 2);
  Real values[3] = {a.p.x, b.p.x, c.z}*time;
end M;
