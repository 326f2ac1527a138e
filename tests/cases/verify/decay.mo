// The digits of --verify are those to which the run agrees with the closed form. The second run is a hundred times more accurate, so it changes the differences by at most a
// hundredth. Each family of methods is checked by another one.
// run: simulate --verify --tolerance {1e-3,1e-5,1e-7} --solver {erk,radau,bdf,ida,cvode}
// expect: report.verify.status = "ok"
// expect: report.verify.solver = ("bdf" if option.solver == "radau" else "radau")
// expect: report.verify.tolerance = option.tolerance / 100 within 1e-20
// expect: report.verify.points = rows
// expect: report.verify.variables["x"].difference = largest(abs(x - exp(-time))) within 0.2*largest(abs(x - exp(-time)))
// expect: report.verify.variables["x"].size = 1
// expect: 10^(-report.verify.variables["x"].digits) = largest(abs(x - exp(-time))) within 0.2*largest(abs(x - exp(-time)))
// expect: 10^(-report.verify.variables["y"].digits) = largest(abs(y - 3*exp(-time)))/3 within 0.2*largest(abs(x - exp(-time)))
// expect: report.verify.digits = min(report.verify.variables["x"].digits, report.verify.variables["y"].digits, report.verify.variables["der(x)"].digits)
// expect: report.verify.variables["zero"].digits = null
// expect: says /verified +[0-9.]+ digits at least, by (radau|bdf) at tolerance/
// expect: says of 1 variable below the absolute tolerance
// run: simulate
// expect: never says verified
model Decay
  Real x(start = 1, fixed = true), y, zero;
equation
  der(x) = -x;
  y = 3*x;
  zero = 1e-4*(x - exp(-time));
  annotation(experiment(StopTime = 2));
end Decay;
