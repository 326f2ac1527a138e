package P
  function f input Real q; input Real w; output Real y; algorithm y := -w*q^2/2; end f;
  function fq = der(f, q);
  model Second
    Real q(start = 1, fixed = true), a = fq(q, 4);
  initial equation
    der(q) = 0; der(der(q)) = 0; der(der(der(q))) = 0;
  lagrangian -der(der(q))^2/2 + 5/2*der(q)^2 + f(q, 4);
  dissipation der(q)^2*1e-3;
  end Second;
end P;
