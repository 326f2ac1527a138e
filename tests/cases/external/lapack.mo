// A linear system, eigenvalues, a norm; z solves (19 - 8 z)/(6 - z^2) = 2.
// run: simulate --quiet --intervals 20
// expect: x[1] = (3*(3 + time) - 5)/5 within 1e-12*max(1, (3*(3 + time) - 5)/5) everywhere
// expect: x[2] = (10 - 3 - time)/5 within 1e-12*max(1, (10 - 3 - time)/5) everywhere
// expect: abs(im[1]) = 2 within 2e-12 at start
// expect: n = 7 within 7e-12 at start
// expect: z = 2 - sqrt(0.5) within 1e-7*(2 - sqrt(0.5)) at start
package P


  function solve
    input Real A[:, size(A, 1)]; input Real b[size(A, 1)]; output Real x[size(A, 1)] = b; output Integer info;
  protected
    Real work[size(A, 1), size(A, 1)] = A;
    Integer pivots[size(A, 1)];
    external "FORTRAN 77" dgesv(size(A, 1), 1, work, size(A, 1), pivots, x, size(A, 1), info);
  end solve;
  function eigenvalues
    input Real A[:, size(A, 1)]; output Real re[size(A, 1)]; output Real im[size(A, 1)]; output Integer info;
  protected
    Real work[size(A, 1), size(A, 1)] = A, dummy[1, 1], room[10*size(A, 1)];
    external "FORTRAN 77" dgeev("N", "N", size(A, 1), work, size(A, 1), re, im, dummy, 1, dummy, 1, room, size(room, 1), info);
  end eigenvalues;
  function norm
    input Real A[:, :]; output Real y;
  protected
    Real room[2*size(A, 1)];
    external "FORTRAN 77" y = dlange("I", size(A, 1), size(A, 2), A, size(A, 1), room);
  end norm;
  model M
    Real x[2], re[2], im[2], n = norm([1, -2; 3, 4; 0, 5]), z(start = 0.5);
  equation
    x = solve([2, 1; 1, 3], {3 + time, 5});
    (re, im) = eigenvalues([0, 1; -4, 0]);
    2 = solve([2, z; z, 3], {3, 5})*{1, 1};
  end M;
end P;
