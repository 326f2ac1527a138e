model 'odd names' "says \"hello\", with a \\ and a
new line"
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line model 'odd names' "says \"hello\", with a \\ and a\nnew line"
  // expect: line parameter Real 'it\'s' = 2e-300;
  // expect: line parameter Real 'big' = 1.2345678901234567e+19;
  // expect: line input Real 'u'(start = 0.5);
  parameter Real 'a.b[1]' = 1.5 "dotted";
  parameter Real 'it\'s' = 2e-300;
  parameter String s = "tab\tquote\"";
  parameter Real big = 12345678901234567890.0;
  parameter Integer i = 2147483647;
  final parameter Boolean flag = 'a.b[1]' > 1;
  constant Real pi = 3.141592653589793;
  Real 'time'(start = 1, fixed = true), 'x y', 'model';
  input Real u(start = 0.5);
  output Real out_y(quantity = "Length", unit = "m", displayUnit = "mm", min = -1e6, max = 1e6, nominal = 10, stateSelect = StateSelect.avoid);
equation
  der('time') = -'time' + time*'it\'s' + u;
  'x y' = if flag then sin(pi*'time') else 0;
  'model' = 'x y'^2/3 - 1/(2 + 'time'^2)*'x y';
  out_y = 'model'*big;
end 'odd names';
