// `end` in subscripts of a constant of a package, in a function that is called while the model runs.
// expect: y = 5
// expect: z = 3
package P
  constant Real c[:] = {1, 2, 4, 5};
  function last
    input Real x;
    output Real y;
    output Real z;
  protected
    Integer i = 1;
  algorithm
    while c[i] < x and i < size(c, 1) loop
      i := i + 1;
    end while;
    y := c[end] + x - x;
    z := c[end - 1] - c[1] + 0*i;
  end last;
end P;

model M
  Real y, z;
equation
  (y, z) = P.last(3*time);
end M;
