//! base 0.1.0
package 'Stems'
  // Arrays and records declared element by element, used as wholes, and with subscripts inside of their names.
  record 'Complex'
    Real 're';
    Real 'im';
  end 'Complex';

  type 'Level' = enumeration('low', '\'high\'');

  function 'power'
    input 'Complex' 'u'[:];
    output Real 'p';
  algorithm
    'p' := sum('u[\'k\']'.'re' ^ 2.0 + 'u[\'k\']'.'im' ^ 2.0 for 'k' in 1:size('u', 1));
  end 'power';

  model 'Stems'
    // run: check
    // expect: exit 0
    // run: flatten
    // expect: line 'p' = 'v[1].re'^2 + 'v[1].im'^2 + 'v[2].re'^2 + 'v[2].im'^2;
    // expect: line 'q' = 'v[1].re' + 'v[2].re';
    // expect: line 'r' = if 'k' == 1 then 'a[1]' else 'a[2]';
    // expect: line 'limit' = 'table[\'Level\'.\'\\\'high\\\'\']';
    parameter Real 'table[\'Level\'.\'low\']' = 1.0;
    parameter Real 'table[\'Level\'.\'\\\'high\\\'\']' = 2.0;
    Real 'v[1].re';
    Real 'v[1].im';
    Real 'v[2].re';
    Real 'v[2].im';
    Real 'a[1]';
    Real 'a[2]';
    Integer 'k';
    Real 'p';
    Real 'q';
    Real 'r';
    Real 'limit';
  equation
    'v' = {'Complex'(1.0, time), 'Complex'(time, 2.0)};
    'a' = {3.0, 4.0 * time};
    'k' = if time > 1.0 then 2 else 1;
    'p' = 'power'('v');
    'q' = sum('v[(1:size(\'v\', 1))[\'$i1\']].re' for '$i1' in 1:size('v', 1));
    'r' = 'a[\'k\']';
    'limit' = 'table'['Level'.'\'high\''];
  end 'Stems';
end 'Stems';
