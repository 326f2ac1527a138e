//! base 0.1.0
package 'Circuit'
  type 'Modelica.Units.SI.Voltage' = Real(quantity = "ElectricPotential", unit = "V");
  type 'State' = enumeration('off', 'on' "conducting");
  record 'Complex'
    Real 're';
    Real 'im';
  end 'Complex';
  function 'square'
    input Real 'u';
    output Real 'y';
  algorithm
    'y' := 'u' * 'u';
  end 'square';
  model 'Circuit'
    final parameter Real 'C' = 2.0 * 'R';
    parameter Real 'R'(min = 0.0) = 1e3 "resistance";
    constant Integer 'n' = 3;
    'Modelica.Units.SI.Voltage' 'c.v'(start = 1.0, fixed = true);
    Real 'a.r[1]';
    Real 'a.r[2]';
    Real 'odd\'name';
    'Complex' 'z';
    'State' 's'(start = 'State'.'off');
    Boolean 'b';
  equation
    'C' * der('c.v') = -'c.v' / 'R';
    'a.r[1]' = 'square'('c.v');
    'a.r[2]' = if 'b' then 1.0 elseif 'c.v' < 0.5 and not initial() then 2.0 else 3.0;
    'odd\'name' = 'a.r[1]' + 'a.r[2]';
    'z'.'re' = sin(time);
    'z'.'im' = cos(time);
    'b' = 'c.v' > 0.25;
    when 'b' then
      's' = 'State'.'on';
    end when;
    annotation(experiment(StopTime = 2, Tolerance = 1e-6));
  end 'Circuit';
end 'Circuit';
