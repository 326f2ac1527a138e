// The two runs find each bounce at slightly different times; at output points near such an event, the height of the jump does not count as a difference. The bounces are at 1 and then every
// 2 seconds, at output points.
// run: simulate --verify --tolerance {1e-4,1e-6} --stop-time 6 --output-interval 0.01
// expect: report.verify.status = "ok"
// expect: report.verify.events = [report.events, report.events]
// expect: report.verify.points > 590
// expect: report.verify.digits > 2
// expect: report.verify.variables["n"].digits > 15
model Ball
  Real h(start = 0.5, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -1;
  when h < 0 then
    reinit(v, -pre(v));
    n = pre(n) + 1;
  end when;
end Ball;
