// h = (1 - time)^2 up to time 1, then 0: no derivative of the root there. Within a mode the root may become undefined.
// run: simulate --stop-time 3 --solver {erk,radau}
// change: max(h, 0) -> max(h, 0) | noEvent(if h > 0 then h else 0)
// expect: h = max(1 - time, 0)^2 within 1e-4 everywhere
// run: simulate --stop-time 3 --solver {erk,radau}
// change: max(h, 0) -> if h > 0 then h else 0
// expect: exit 0 or 6
// expect: status == 0 or "if h > 0" in stderr
model M
  Real h(start=1, fixed=true);
equation
  der(h) = -2*sqrt(max(h, 0));
end M;
