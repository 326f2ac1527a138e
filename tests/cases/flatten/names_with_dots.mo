// The dots in a quoted name belong to the name: inside of 'A.B.log' the name log is the language's function. It called itself.
// run: simulate
// expect: x = log(2) within 1e-12
// expect: y = 2*exp(1) within 1e-12
// expect: z = log(2) + 3 within 1e-12
// run: flatten | simulate
// expect: x = log(2) within 1e-12
package 'P'
  constant Real 'A.B.c' = 5;
  constant Real 'c' = 3;
  function 'A.B.log' input Real 'u'; output Real 'y'; algorithm 'y' := log('u'); end 'A.B.log';
  function 'A.B.exp' input Real 'u'; output Real 'y'; algorithm 'y' := 2*exp('u'); end 'A.B.exp';
  function 'A.B.f' input Real 'u'; output Real 'y'; algorithm 'y' := log('u') + 'c'; end 'A.B.f';
  model 'P'
    Real 'x' = 'A.B.log'(time + 1), 'y' = 'A.B.exp'(time), 'z' = 'A.B.f'(time + 1);
  end 'P';
end 'P';
