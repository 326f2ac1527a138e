"""Shared by the tests of sensitivities and of gradients: how they run a model, models with events and initial equations, and
generated models."""
import os
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
WORK = pathlib.Path(tempfile.mkdtemp())
SLOW = os.environ.get("BUILD_KIND") != "release"
TRAJECTORY = WORK / "o.csv"

SAMPLED = """model M
  parameter Real k = 2, T = 0.3;
  Real x(start = 1, fixed = true);
  discrete Real u(start = 0, fixed = true), s(start = 0, fixed = true);
equation
  der(x) = -x/T + u;
  when sample(0, 0.1) then
    s = pre(s) + 0.1*x;
    u = -k*x - s;
  end when;
end M;"""

# An event of a state sets values that later equations and conditions use.
DISCRETE = """model M
  parameter Real a = 1.3, level = 0.4;
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  discrete Real at(start = 0, fixed = true), rate(start = a, fixed = true);
equation
  der(x) = rate*(1 - y/3);
  der(y) = x - a*y;
  when x > level + at then
    at = x + 0.2*y;
    rate = a*pre(rate)/(1 + time);
  end when;
end M;"""

# A model that is steady at the start, with a parameter that initialization determines, and another one bound to it.
INITIAL = """model M
  parameter Real a = 2, b(fixed = false, start = 1), c = 2*b, d = 0.3;
  Real x(start = 1), y(start = 0.5);
initial equation
  der(x) = 0; y = sin(a); x = 1 + d*y^2;
equation
  der(x) = -a*x + b*y + c*y^2;
  der(y) = x*y - a*y^3 - 0.1*c*y;
end M;"""


def simulate(model, *options, status=0):
    """Runs a text or a file; its trajectory is in TRAJECTORY. Returns the messages."""
    path = model if isinstance(model, pathlib.Path) else WORK / "m.mo"
    if path != model:
        path.write_text(model)
    done = subprocess.run([os.environ["DAEDAL"], "simulate", str(path), "--output-file", str(TRAJECTORY), "-q", *options],
                          capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stderr


def count(variable, usual):
    """The number of models, from the environment."""
    return int(os.environ.get(variable, "4" if SLOW else usual))


def draw_curve(draw):
    """A point on a curve, with hidden constraints, driven by parameters, with an event or without. Returns the text and its targets."""
    a, b, c, d = (round(draw.uniform(0.5, 1.5), 3) for _ in range(4))
    power = draw.choice((2, 4))
    return f"""model M
      parameter Real a = {a}, b = {b}, c = {c}, d = {d}, e = 2*d;
      Real x(start = 0.3, fixed = true), y(start = 0.9), u(start = {draw.uniform(-1, 1):.3f}, fixed = true), v, l;
      Real w(start = b, fixed = true), q;
    equation
      u = der(x); v = der(y);
      der(u) = -l*{power}*x^{power - 1}*a + w*sin(c*time) - {draw.uniform(0, 0.5):.3f}*u;
      der(v) = -l*2*y*b - d - 0.1*w*v;
      a*x^{power} + b*y^2 = 1;
      der(w) = {draw.choice(('-c*w + x*y', 'q - e*w', '-w + (if x > 0.1*d then a else -b)'))};
      q + 0.3*sin(q) = x + d*w;
    end M;""", {"a": a, "b": b, "c": c, "d": d, "x.start": 0.3}


def draw_ball(draw):
    """Bounces with losses that depend on parameters, between a floor and a ceiling. Returns the text and its targets."""
    e, g, top, k = (round(draw.uniform(*between), 3) for between in ((0.6, 0.95), (5, 12), (0.8, 1.2), (0, 0.5)))
    speed = round(draw.uniform(3, 5), 3)
    return f"""model M
      parameter Real e = {e}, g = {g}, top = {top}, k = {k};
      Real h(start = 0.5, fixed = true), v(start = {speed}, fixed = true);
      Real lost(start = 0, fixed = true);
    equation
      der(h) = v; der(v) = -g - k*v*abs(v); der(lost) = if v > 0 then k*v^3 else 0;
      when h <= 0 then
        reinit(v, -e*pre(v)); reinit(lost, pre(lost) + (1 - e^2)*pre(v)^2/2);
      end when;
      when h >= top then
        reinit(v, -pre(v)*(1 - 0.1*pre(v)/(1 + pre(v)^2)));
      end when;
    end M;""", {"e": e, "g": g, "top": top, "k": k, "h.start": 0.5, "v.start": speed}
