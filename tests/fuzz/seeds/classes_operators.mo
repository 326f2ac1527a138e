model M
  operator record C
    Real re, im;
    encapsulated operator 'constructor' function a import M.C; input Real x; input Real y = 0; output C c(re = x, im = y); algorithm end a; end 'constructor';
    encapsulated operator function '+' import M.C; input C a; input C b; output C c; algorithm c := C(a.re + b.re, a.im + b.im); end '+';
    encapsulated operator '-' function n import M.C; input C a; output C c = C(-a.re, -a.im); algorithm end n; end '-';
  end C;
  C x = C(1) + C(2, 3), y = -x;
  Real v[3];
equation
  for i loop v[i] = i; end for;
end M;
