// Texts decide sizes while the model is read.
// run: simulate --quiet --intervals 20
// expect: x[4] = 4 within 4e-6
package P
  function len
    input String s;
    output Integer n;
    external  "C"  n = ModelicaStrings_length(s);
  end len;
  model M
    parameter Integer n = len( "abcd" );
    Real x[n] = {k*time for k in 1:n};
  end M;
end P;
