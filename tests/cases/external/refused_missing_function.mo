//! base 0.1.0
// run: simulate
// expect: exit 3
// expect: says function `absent`, which is not in the file
package 'M'
  function 'f'
    input Real 'x';
    output Real 'y';
  algorithm
    'y' := if 'x' > 5 then 'absent'('x') else 'x';
    while 'y' > 3 loop
      'y' := 'y' - 1;
    end while;
  end 'f';
  model 'M'
    parameter Real 'p' = 'f'(9.0);
    Real 'y' = 'f'(time) + 'p';
  end 'M';
end 'M';
