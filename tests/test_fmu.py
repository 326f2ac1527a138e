"""Exported FMUs and standalone solvers end with the values of daedal.

Runs a few models in every build. With DAEDAL_FMU_ALL=1 it runs all examples, for both versions and kinds (minutes).
"""
import csv
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DRIVER = os.path.join(os.environ["BUILD_DIR"], "tests", "fmi_driver")
COMPILE = ["cc", "-std=c99", "-ffp-contract=off"]
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Werror", "-O0", "-ffp-contract=off"]

# Everything that a description and a run can contain, in one model: an input, inputs and outputs of a connector, an enumeration,
# dependent parameters, samples, events of states, an equation of index 2, and a state that is not a variable.
FEATURES = """
connector Bus
  input Real wish;
  output Real reached;
end Bus;

model Features
  Bus bus;
  type Gear = enumeration(low, high);
  parameter Real mass(unit = "kg", min = 0) = 2 "moved";
  parameter Real damping(unit = "N.s/m") = mass/4;
  parameter Integer limit = 3;
  parameter Boolean brakes = true;
  parameter Gear gear = Gear.high;
  input Real force(unit = "N", start = 0);
  output Real position(unit = "m", displayUnit = "mm", start = 1, fixed = true, nominal = 10) "of the body";
  output Real load(unit = "N") = 2*force + mass;
  Real speed(unit = "m/s", start = 0, fixed = true), a, b(start = 0.5, fixed = true), held(start = 0, fixed = true);
  Integer bounces(start = 0, fixed = true);
  Boolean below(start = false);
equation
  der(position) = speed;
  mass*der(speed) = force - mass*9.81 - (if brakes and gear == Gear.high then damping else 0)*speed;
  bus.reached = position + bus.wish;
  der(a) = b + time;
  a = 2*b + sin(time);
  below = position < 0.5;
  when position < 0 then
    reinit(speed, -0.8*pre(speed));
    bounces = if pre(bounces) < limit then pre(bounces) + 1 else pre(bounces);
  end when;
  when sample(0.1, 0.25) then
    held = position;
  end when;
  annotation(experiment(StopTime = 1.5, Tolerance = 1e-8, Interval = 0.01));
end Features;
"""


# Tables in one and two dimensions, from arguments and from a file, and over time, with the functions that read them.
TABLES = """
package P
  class T1 extends ExternalObject;
    function constructor input String f; input String n; input Real table[:,:]; input Integer columns[:]; input Integer smoothness; input Integer extrapolation; output T1 t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2(f, n, table, size(table, 1), size(table, 2), columns, size(columns, 1), smoothness, extrapolation, 0);
    end constructor;
    function destructor input T1 t; external "C" ModelicaStandardTables_CombiTable1D_close(t); end destructor;
  end T1;
  class T2 extends ExternalObject;
    function constructor input String f; input String n; input Real table[:,:]; input Integer smoothness; input Integer extrapolation; output T2 t;
      external "C" t = ModelicaStandardTables_CombiTable2D_init2(f, n, table, size(table, 1), size(table, 2), smoothness, extrapolation, 0);
    end constructor;
    function destructor input T2 t; external "C" ModelicaStandardTables_CombiTable2D_close(t); end destructor;
  end T2;
  class TT extends ExternalObject;
    function constructor input String f; input String n; input Real table[:,:]; input Real startTime; input Integer columns[:]; input Integer smoothness; input Integer extrapolation; input Real shift; input Integer events; output TT t;
      external "C" t = ModelicaStandardTables_CombiTimeTable_init2(f, n, table, size(table, 1), size(table, 2), startTime, columns, size(columns, 1), smoothness, extrapolation, shift, events, 0);
    end constructor;
    function destructor input TT t; external "C" ModelicaStandardTables_CombiTimeTable_close(t); end destructor;
  end TT;
  function v1 input T1 t; input Integer c; input Real u; output Real y; external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, c, u); annotation(derivative(noDerivative = t) = d1); end v1;
  function d1 input T1 t; input Integer c; input Real u; input Real du; output Real y; external "C" y = ModelicaStandardTables_CombiTable1D_getDerValue(t, c, u, du); end d1;
  function v2 input T2 t; input Real u; input Real v; output Real y; external "C" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v); end v2;
  function vt input TT t; input Integer c; input Real u; input Real n; input Real p; output Real y; external "C" y = ModelicaStandardTables_CombiTimeTable_getValue(t, c, u, n, p); end vt;
  function next input TT t; input Real u; output Real y; external "C" y = ModelicaStandardTables_CombiTimeTable_nextTimeEvent(t, u); end next;
  function top input T1 t; output Real y; external "C" y = ModelicaStandardTables_CombiTable1D_maximumAbscissa(t); end top;
  model M
    parameter Real k = 1, g = 2;
    parameter T1 a = T1("NoName", "NoName", [0, k, 0; 1, 2, 1; 2, 5, 0; 3, 4, 2], {2, 3}, @curve, @beyond);
    parameter T2 b = T2("@file", "grid", zeros(0, 0), @grid, @beyond);
    parameter TT c = TT("NoName", "NoName", [0, 0; 0.5, 1; 0.5, 3; 1.5, 2; 2, 0], 0, {2}, @time, @after, @shift, 1);
    Real x(start = 0.2, fixed = true), y(start = 0, fixed = true), p(start = 0.3), q, u, w;
    discrete Real event(start = 0, fixed = true);
  equation
    when {time >= pre(event), initial()} then
      event = next(c, time);
    end when;
    u = vt(c, 1, time, event, pre(event));
    der(x) = g*v1(a, 1, y) - x + u;
    der(y) = v2(b, x, y) - 3*y;
    w = v1(a, 2, x) + top(a);
    p + 0.3*sin(p) = v1(a, 1, q) + y;
    der(q) = -p + x - 4*q;
    annotation(experiment(StopTime = 3, Tolerance = 1e-8, Interval = 0.05));
  end M;
end P;
"""


def run(*arguments, status=0):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, arguments))}\nended with {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    return done


def simulate(model, folder, *more):
    """The last value and the largest size of each signal."""
    run(DAEDAL, "simulate", model, "-q", "--output-file", folder / "reference.csv", *more)
    with open(folder / "reference.csv", newline="") as file:
        names, *rows = csv.reader(file)
    columns = {name: [float(row[k] or "nan") for row in rows] for k, name in enumerate(names)}
    return {name: (values[-1], max(map(abs, values))) for name, values in columns.items()}


def drive(fmu, *arguments):
    lines = run(DRIVER, fmu, *arguments).stdout.splitlines()
    return {name: float(value) for name, value in (line.rsplit("\t", 1) for line in lines)}


def compare(reference, values, tolerance, what):
    """The values must agree within ten times the tolerance. Derivatives with respect to time are less accurate in proportion to their speed, and are left out."""
    worst = 0
    for name, (expected, size) in reference.items():
        if name in values and not name.startswith("der(") and not math.isnan(expected):
            worst = max(worst, abs(values[name] - expected) / (1 + size) / tolerance)
            assert worst <= 10, f"{what}: {name} is {values[name]!r}, not {expected!r}"
    return worst


def check_description(fmu, version, kinds):
    with zipfile.ZipFile(fmu) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        root = xml.fromstring(archive.read("modelDescription.xml"))
        texts = [archive.read(name) for name in names if name.endswith(".xml")]
    for text in texts:
        xml.fromstring(text)
    assert root.get("fmiVersion") == f"{version}.0"
    assert [kind for kind in ("ModelExchange", "CoSimulation") if root.find(kind) is not None] == kinds
    assert ("sources/buildDescription.xml" in names) == (version == 3)
    assert any(name.startswith("binaries/") for name in names) and "sources/model.c" in names
    return root


def check_features(folder):
    model = folder / "features.mo"
    model.write_text(FEATURES)
    fmu = folder / "features.fmu"
    run(DAEDAL, "export", model, "--fmu", fmu, "-q")
    root = check_description(fmu, 3, ["ModelExchange", "CoSimulation"])
    variables = {variable.get("name"): variable for variable in root.find("ModelVariables")}
    assert variables["mass"].get("unit") == "kg" and variables["mass"].get("causality") == "parameter"
    damping = variables["damping"]
    assert (damping.get("causality"), damping.get("initial"), damping.get("start")) == ("calculatedParameter", "approx", "0.5")
    assert variables["mass"].get("variability") == damping.get("variability") == "tunable" and variables["limit"].get("variability") == "fixed"
    assert variables["force"].get("causality") == "input" and variables["position"].get("causality") == "output"
    assert variables["position"].get("nominal") == "10" and variables["position"].get("initial") == "exact"
    assert variables["gear"].tag == "Enumeration" and variables["limit"].tag == "Int32" and variables["below"].tag == "Boolean"
    assert len(root.findall("ModelStructure/ContinuousStateDerivative")) == 3
    check_units(root)
    check_terminals(fmu)
    assert check_dependencies(fmu, root) < 1e-6
    for settings in ([], ["mass=3", "force=1.5", "brakes=0"], ["damping=0.7", "mass=3"]):
        overrides = ["--override", ",".join(settings).replace("brakes=0", "brakes=false")] if settings else []
        reference = simulate(model, folder, *overrides)
        for kind in ("cs", "me"):
            compare(reference, drive(fmu, kind, "1e-8", *settings), 1e-8, f"features {kind} {settings}")
    drive(fmu, "state")
    drive(fmu, "state", "me")
    drive(fmu, "many", 1000)
    check_event_mode(model, fmu, folder)


def check_units(root):
    units = {unit.get("name"): unit for unit in root.iter("Unit")}
    assert units["N.s/m"].find("BaseUnit").attrib == {"kg": "1", "s": "-1"}, units["N.s/m"].find("BaseUnit").attrib
    assert units["(m/s)/s"].find("BaseUnit").attrib == {"m": "1", "s": "-2"}
    display = units["m"].find("DisplayUnit")
    assert display.get("name") == "mm" and float(display.get("factor")) == 1000


def check_terminals(fmu):
    with zipfile.ZipFile(fmu) as archive:
        terminals = xml.fromstring(archive.read("terminalsAndIcons/terminalsAndIcons.xml"))
    members = [(t.get("name"), m.get("memberName"), m.get("variableName")) for t in terminals.iter("Terminal") for m in t]
    assert members == [("bus", "wish", "bus.wish"), ("bus", "reached", "bus.reached")], members


def check_dependencies(fmu, root):
    """Every derivative is with respect to a variable that the description names; returns the largest error against differences."""
    variables = list(root.find("ModelVariables"))
    names = {v.get("valueReference"): v.get("name") for v in variables}
    if root.get("fmiVersion") == "2.0":
        names = {str(k + 1): v.get("name") for k, v in enumerate(variables)}
    unknowns = root.findall(".//ContinuousStateDerivative") or root.findall(".//Derivatives/Unknown")
    named = {(names[u.get("valueReference") or u.get("index")], names[known]) for u in unknowns for known in u.get("dependencies").split()}
    assert all(len(u.get("dependencies").split()) == len(u.get("dependenciesKind").split()) for u in unknowns)
    found = drive(fmu, "derivatives")
    worst = found.pop("worst")
    beyond = {tuple(name.split(" ")) for name, value in found.items() if abs(value) > 1e-12} - named  # round-off of the factors
    assert not beyond, beyond
    return worst


def check_event_mode(model, fmu, folder):
    """The FMU returns at each event and when an intermediate update requests it; the final values are the same as without returns."""
    values = drive(fmu, "events")
    compare(simulate(model, folder), values, 1e-8, "features with event mode")
    assert values["events"] >= values["bounces"] + 6, values["events"]  # samples, and the edge of `below`
    assert values["early"] >= values["events"] and values["updates"] > 20
    assert values["changes"] == values["events"], values["changes"]  # left limits are available until an event is handled


def check_tuned(folder):
    """Parameters that get other values half-way, directly and through those bound to them."""
    text = """model Tuned
  parameter Real m = 2, k = 3;
  parameter Real d = m/4;
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), p(start = 0.6), q(start = 0.8, fixed = true), l;
  discrete Integer n(start = 0, fixed = true);
equation
  der(x) = v;
  @m*der(v) = -@k*x - @d*v;
  der(p) = l*p + x; der(q) = l*q + 1; p^2 + q^2 = 1;
  when x < 0 then n = pre(n) + 1; end when;
  annotation(experiment(StopTime = 6, Tolerance = 1e-8, Interval = 0.05));
end Tuned;
"""
    model, fmu = folder / "tuned.mo", folder / "tuned.fmu"
    for version, settings in ((2, {"m": 3}), (3, {"k": 1.5, "d": 2})):
        after = {"m": 2, "k": 3, **settings}
        after.setdefault("d", after["m"] / 4)
        model.write_text(re.sub(r"@(\w)", lambda found: f"(if time < 3 then {found[1]} else {after[found[1]]!r})", text))
        reference = simulate(model, folder)
        model.write_text(text.replace("@", ""))
        run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", version, "-q")
        for kind in ("cs", "me"):
            values = drive(fmu, "tune", kind, *(f"{name}={value}" for name, value in settings.items()))
            compare({name: value for name, value in reference.items() if name not in after}, values, 1e-6, f"tuned {kind} {version}")
            assert values["d"] == after["d"] and values["n"] > 0, values


def check_kinds(folder):
    """Fixed factors are reported: direct ones, and those through an algebraic loop; factors of inputs in products are not."""
    model, fmu = folder / "kinds.mo", folder / "kinds.fmu"
    model.write_text("""model Kinds
  parameter Real k = 2;
  input Real u;
  Real x(start = 1, fixed = true), y(start = 1, fixed = true), z(start = 0, fixed = true), a, b;
equation
  der(x) = x*y + u;
  der(y) = -k*y + a;
  2*a + b = z;
  a - b = y;
  der(z) = sin(z) + x;
end Kinds;
""")
    run(DAEDAL, "export", model, "--fmu", fmu, "-q")
    root = check_description(fmu, 3, ["ModelExchange", "CoSimulation"])
    names = {v.get("valueReference"): v.get("name") for v in root.find("ModelVariables")}
    kinds = {names[u.get("valueReference")]: dict(zip([names[k] for k in u.get("dependencies").split()], u.get("dependenciesKind").split()))
             for u in root.findall(".//ContinuousStateDerivative")}
    assert kinds == {"der(x)": {"u": "dependent", "x": "dependent", "y": "dependent"},
                     "der(y)": {"y": "fixed", "z": "fixed"},
                     "der(z)": {"x": "fixed", "z": "dependent"}}, kinds


def linear_model(generator, folder, number):
    """A linear model of index 1 to 3 with inputs that some of its states depend on: chains of integrators in random coordinates."""
    n = generator.randint(2, 6)
    states = "".join(f"  Real x{k}(start = {generator.uniform(-1, 1)}, fixed = true);\n" for k in range(n))
    algebraic = "".join(f"  Real z{k};\n" for k in range(n))
    equations = []
    for k in range(n):
        terms = [f"{generator.uniform(-2, 2)}*x{j}" for j in range(n) if generator.random() < 0.4]
        terms += [f"{generator.uniform(-2, 2)}*u{j}" for j in range(2) if generator.random() < 0.3]
        equations.append(f"  der(x{k}) = {' + '.join(terms) or '0'};")
        former = [f"{generator.uniform(-1, 1)}*z{j}" for j in range(n) if j != k and generator.random() < 0.3]
        equations.append(f"  3*z{k} = sin(x{k}) + {' + '.join(former) or '0'};")
    path = folder / f"linear{number}.mo"
    path.write_text(f"model Linear{number}\n  input Real u0, u1;\n{states}{algebraic}  output Real y = z0 + x{n - 1}*u1;\n"
                    f"  Real p(start = 0.6), q(start = 0.8, fixed = true), l;\nequation\n" + "\n".join(equations)
                    + f"\n  der(p) = l*p + x0;\n  der(q) = l*q + {generator.choice(['u0', '1'])};\n  p^2 + q^2 = 1;\nend Linear{number};\n")
    return path


def check_random_dependencies(folder):
    generator = random.Random(7)
    for number in range(int(os.environ.get("DAEDAL_FMU_MODELS", "2"))):
        model, fmu, version = linear_model(generator, folder, number), folder / "linear.fmu", str(2 + number % 2)
        run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", version, "-q")
        worst = check_dependencies(fmu, check_description(fmu, int(version), ["ModelExchange", "CoSimulation"]))
        assert worst < 1e-5, (model.read_text(), worst)


def check_pendulum(folder):
    model = SOURCE / "examples" / "pendulum.mo"
    fmu = folder / "pendulum.fmu"
    run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", "2", "-q")
    check_description(fmu, 2, ["ModelExchange", "CoSimulation"])
    for settings in ([], ["L=2"]):
        reference = simulate(model, folder, *(["--override", ",".join(settings)] if settings else []))
        for kind in ("cs", "me"):
            compare(reference, drive(fmu, kind, "1e-8", *settings), 1e-6, f"pendulum {kind} {settings}")
    with zipfile.ZipFile(fmu) as archive:
        root = xml.fromstring(archive.read("modelDescription.xml"))
    assert check_dependencies(fmu, root) < 1e-6 and root.get("numberOfEventIndicators") == "1"
    drive(fmu, "state")
    drive(fmu, "state", "me")


def check_platforms(folder):
    """Binaries are where importers look: FMI 2.0 in linux64 on every processor; for Windows if its compiler is found."""
    model, place, path = folder / "small.mo", folder / "programs", os.environ["PATH"]
    model.write_text("model Small\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\nend Small;\n")
    place.mkdir()
    (place / "x86_64-w64-mingw32-gcc").write_text("#!/bin/sh\nexec cc \"$@\"\n")
    (place / "x86_64-w64-mingw32-gcc").chmod(0o755)
    os.environ["PATH"] = f"{place}:{path}"
    names = {}
    for version in (2, 3):
        run(DAEDAL, "export", model, "--fmu", folder / "small.fmu", "--fmi", version, "-q")
        with zipfile.ZipFile(folder / "small.fmu") as archive:
            names[version] = [name for name in archive.namelist() if name.startswith("binaries/")]
    os.environ["PATH"] = path
    assert "binaries/linux64/Small.so" in names[2] and "binaries/win64/Small.dll" in names[2], names
    assert "binaries/x86_64-windows/Small.dll" in names[3] and not any("linux64" in name for name in names[3]), names


def check_preferences(folder):
    """Preferred states are avoided if they would be singular."""
    generator = random.Random(3)
    model, fmu = folder / "preferred.mo", folder / "preferred.fmu"
    for preference in (", stateSelect = StateSelect.always", ", nominal = 1e-4"):
        angle = generator.uniform(0.3, 1.2)
        text = f"""model Wished
  Real x(start = {math.cos(angle)!r}, fixed = true{preference}), vx(start = 0, fixed = true{preference}), y(start = {math.sin(angle)!r}), vy, F;
equation
  der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1;
  annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end Wished;
"""
        model.write_text(text.replace(preference, ""))
        reference = simulate(model, folder)
        model.write_text(text)
        run(DAEDAL, "export", model, "--fmu", fmu, "-q")
        for kind in ("cs", "me"):
            compare(reference, drive(fmu, kind, "1e-8"), 1e-6, f"preferred {kind} {preference}")


def check_short_events(folder):
    """Conditions that hold for a short part of their periods, several in a step, are all found."""
    generator = random.Random(6)
    model, fmu = folder / "waves.mo", folder / "waves.fmu"
    for _ in range(3):
        levels = [1 - 10 ** generator.uniform(-3, -1.5) for _ in range(2)]
        model.write_text(f"""model Waves
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), a, b;
  discrete Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  der(x) = v + x*(1 - x^2 - v^2); der(v) = -x + v*(1 - x^2 - v^2);
  a = 16*x^5 - 20*x^3 + 5*x; b = 4*x^3 - 3*x;
  when a > {levels[0]!r} then n = pre(n) + 1; end when;
  when -b > {levels[1]!r} then m = pre(m) + 1; end when;
  annotation(experiment(StopTime = 50, Tolerance = 1e-6));
end Waves;
""")
        run(DAEDAL, "export", model, "--fmu", fmu, "-q")
        values = drive(fmu, "cs", "1e-6")
        expected = [math.floor((5 * 50 + math.acos(levels[0])) / (2 * math.pi)), math.floor((3 * 50 + math.acos(levels[1])) / (2 * math.pi) + 0.5)]
        assert [values["n"], values["m"]] == expected, (levels, values, expected)


def driven_model(generator, folder, number):
    """Unknowns of nonlinear equations that follow an input much faster than the states do, and conditions on them."""
    speed, level = generator.uniform(10, 60), generator.uniform(-0.3, 0.3)
    state = ("Real x(start = 1, fixed = true), s(start = 0, fixed = true);", "der(x) = -x; der(s) = if w > 0.2 then 1 else 0;", "x")
    declared, rates, x = state if number % 3 else ("", "", "1")
    path = folder / f"driven{number}.mo"
    path.write_text(f"""model Driven{number}
  {declared}
  Real y(start = 0), w(start = 0);
  discrete Integer n(start = 0, fixed = true), k(start = 0, fixed = true);
equation
  {rates}
  y^3 + {generator.uniform(0.5, 2)}*y = sin({speed}*time);
  w + {generator.uniform(0.1, 0.8)}*sin(w) = {generator.uniform(0.5, 2)}*y + 0.3*{x};
  when y > {level} then n = pre(n) + 1; end when;
  when {generator.choice(["w > 0.2", "y*w > 0.1", "w < -0.1"])} then k = pre(k) + 1; end when;
  annotation(experiment(StopTime = 4, Tolerance = 1e-8, Interval = 0.5));
end Driven{number};
""")
    return path


def check_driven(folder):
    """Events that depend on algebraic unknowns only are all found, even if the states would allow long steps."""
    generator, target = random.Random(23), folder / "driven"
    for number in range(max(3, int(os.environ.get("DAEDAL_FMU_MODELS", "3")))):
        model, fmu = driven_model(generator, folder, number), folder / "driven.fmu"
        reference = simulate(model, folder, "--tolerance", "1e-9")
        run(DAEDAL, "export", model, "--c", target, "--standalone", "-q")
        run(*COMPILE, "-o", target / "model", *sorted(target.glob("*.c")), "-lm")
        for tolerance in ("1e-4", "1e-8"):
            names, *rows = csv.reader(run(target / "model", "4", tolerance).stdout.splitlines())
            compare(reference, dict(zip(names, map(float, rows[-1]))), float(tolerance), f"driven {number} standalone {tolerance}")
        run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", str(2 + number % 2), "-q")
        compare(reference, drive(fmu, "cs", "1e-8"), 1e-6, f"driven {number} cs")


def timed_model(generator, folder, number):
    """Conditions on time that are no linear functions of it: pulses far shorter than a step, a wave that becomes faster, and times that
    depend on a discrete value."""
    width, rate = 10 ** generator.uniform(-9, -6), generator.uniform(0.3, 1)
    path = folder / f"timed{number}.mo"
    path.write_text(f"""model Timed{number}
  parameter Real gain = {generator.uniform(2, 9)};
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  discrete Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
equation
  der(x) = -x;
  der(y) = (if cos({generator.uniform(1, 4)}*time^2) > {generator.uniform(-0.5, 0.5)} then 1 else -1) - y*m;
  when sin(gain*time)^2 > 1 - {width} then n = pre(n) + 1; end when;
  when {rate}*time^2 + time > 0.3*(pre(m) + 1) then m = pre(m) + 1; end when;
  annotation(experiment(StopTime = {generator.uniform(2, 3)}, Tolerance = 1e-8));
end Timed{number};
""")
    return path


def check_times(folder):
    """Exports know the events of conditions on time in advance, as `simulate` does."""
    generator = random.Random(31)
    check_drawn(folder, "timed", timed_model, generator, lambda number: 2 + number % 2, "gain=11.3", least=2)
    model, program = timed_model(generator, folder, 2), folder / "timed"
    run(DAEDAL, "export", model, "--c", program, "--standalone", "-q")
    run("make", "-s", "-C", program, "CC=cc", "CFLAGS=-O0 -std=c99 -ffp-contract=off")
    run(DAEDAL, "simulate", model, "--solver", "radau", "--output-file", folder / "timed.csv", "-q")
    own, rows = run(program / "model").stdout.splitlines(), (folder / "timed.csv").read_text().splitlines()
    assert own[1:] == rows[1:], next(pair for pair in zip(own[1:], rows[1:]) if pair[0] != pair[1])


def sliding_model(generator, folder, number):
    """One to three states held at moving edges by relays that are coupled, and a condition that rests on its edge for a while."""
    n = number % 3 + 1
    laws = ["sign({0})", "(if {0} > 0 then 1 else -1)", "(if {0} > 0 then 1 elseif {0} < 0 then -1 else 0)"]
    text = f"model Sliding{number}\n  parameter Real gain = 1;\n"
    for k in range(n):
        text += f"  Real x{k}(start = {generator.uniform(-1, 1)}, fixed = true), z{k}(start = 0, fixed = true);\n"
    text += "equation\n"
    for k in range(n):
        edge = f"(x{k} - {generator.uniform(0.1, 0.6)}*sin({generator.uniform(0.5, 3)}*time))"
        text += (f"  der(z{k}) = x{k};\n  der(x{k}) = -{generator.uniform(1, 2)}*{generator.choice(laws).format(edge)} - "
                 f"gain*{generator.uniform(0, 0.5)}*x{generator.randrange(n)} + {generator.uniform(0, 0.5)}*z{generator.randrange(n)};\n")
    edge = generator.uniform(-0.3, 0.3)
    text += f"  der(r) = if max(w, {edge}) > {edge} then 1 else -r;\n  w = cos({generator.uniform(1, 3)}*s);\n  der(s) = 1;\n"
    text += "  when x0 > 0.05 then\n    count = pre(count) + 1;\n  end when;\n"
    text = text.replace("equation", "  discrete Integer count(start = 0, fixed = true);\nequation", 1)
    text = text.replace("equation", "  Real r(start = 0, fixed = true), s(start = 0, fixed = true), w;\nequation", 1)
    path = folder / f"sliding{number}.mo"
    path.write_text(text + f"  annotation(experiment(StopTime = 6, Tolerance = 1e-8, Interval = 0.05));\nend Sliding{number};\n")
    return path


def check_sliding(folder):
    """Exports also slide along edges, without a message; if sliding is impossible, a warning has the condition's text."""
    generator, target = random.Random(17), folder / "sliding"
    for number in range(max(3, int(os.environ.get("DAEDAL_FMU_MODELS", "3")))):
        model, fmu = sliding_model(generator, folder, number), folder / "sliding.fmu"
        reference = simulate(model, folder)
        run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", str(2 + number % 2), "-q")
        for kind in ("cs", "me"):
            compare(reference, drive(fmu, kind, "1e-8"), 1e-6, f"sliding {number} {kind}")
        drive(fmu, "state")
        run(DAEDAL, "export", model, "--c", target, "--standalone", "-q")
        run(*COMPILE, "-o", target / "model", *sorted(target.glob("*.c")), "-lm")
        done = run(target / "model")
        names, *rows = csv.reader(done.stdout.splitlines())
        compare(reference, dict(zip(names, map(float, rows[-1]))), 1e-6, f"sliding {number} standalone")
        assert "warning" not in done.stderr, done.stderr
    model = folder / "product.mo"
    model.write_text("model Product\n  Real x(start = 1, fixed = true), y(start = 0.7, fixed = true);\nequation\n"
                     "  der(x) = -sign(x)*(2 + 0.5*sign(y));\n  der(y) = -sign(y)*(2 - 0.5*sign(x));\n"
                     "  annotation(experiment(StopTime = 3, Tolerance = 1e-6));\nend Product;\n")
    run(DAEDAL, "export", model, "--c", target, "--standalone", "-q")
    run(*COMPILE, "-o", target / "model", *sorted(target.glob("*.c")), "-lm")
    said = run(target / "model").stderr
    assert "grows beyond the tolerance" in said and re.search(r"^sign\([xy]\)$", said, re.M), said
    assert int(re.search(r"(\d+) events", said).group(1)) < 10000, said


def delay_model(generator, folder, number):
    """Delays of states and of a wave with jumps, by fixed times, by one that changes, of a discrete value, one inside another, and
    a quantity that moves through a pipe back and forth."""
    times = [generator.uniform(0.1, 0.6) for _ in range(4)]
    gain, period = generator.uniform(0.5, 2), generator.uniform(0.3, 0.9)
    path = folder / f"delay{number}.mo"
    path.write_text(f"""model Delay{number}
  parameter Real gain = {gain};
  Real x(start = 1, fixed = true), w(start = 0, fixed = true), v(start = 0.2, fixed = true), u, z, p(start = 0, fixed = true), left, right, r(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = -gain*delay(x, {times[0]});
  u = if mod(time, {period}) < {period / 2} then 1 else -1;
  der(w) = delay(u, {times[1]}) + delay(delay(x, {times[2]}), {times[3]});
  z = delay(x + w, 0.4 + 0.2*sin(3*time), 0.7);
  der(v) = z - v;
  der(p) = {generator.uniform(0.5, 1)} + 1.2*cos(2*time);
  (left, right) = spatialDistribution(u + x, w, p, der(p) >= 0, {{0, 0.5, 1}}, {{0.5, 1, 0.2}});
  der(r) = left - right;
  when delay(u, {times[2]}) < 0 then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 2.5, Tolerance = 1e-8, Interval = 0.025));
end Delay{number};
""")
    return path


def check_drawn(folder, name, make, generator, version, setting, least=1):
    """Generated models end where daedal ends, even with another parameter, and continue from a saved state."""
    for number in range(max(least, int(os.environ.get("DAEDAL_FMU_MODELS", "1")))):
        model, fmu = make(generator, folder, number), folder / f"{name}.fmu"
        run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", str(version(number)), "-q")
        for settings in ([], [setting]) if setting else ([],):
            reference = simulate(model, folder, *(["--override", ",".join(settings)] if settings else []))
            for kind in ("cs", "me"):
                compare(reference, drive(fmu, kind, "1e-8", *settings), 1e-7, f"{name} {number} {kind} {settings}")
        drive(fmu, "state")
        drive(fmu, "state", "me")


def check_delays(folder):
    """Delays and pipes, which read the past."""
    check_drawn(folder, "delay", delay_model, random.Random(11), lambda number: 2 + number % 2, "gain=1.3")


def sought_model(generator, folder, number):
    """Parameters that initial equations give: an Integer, a Boolean and a Real, and one that is bound to them."""
    path, a = folder / f"sought{number}.mo", generator.uniform(2, 5)
    path.write_text(f"""model Sought{number}
  parameter Real gain = {a};
  parameter Integer n(fixed = false);
  parameter Boolean b(fixed = false);
  parameter Real r(fixed = false, start = 1), k = (if b then n else 0.5) + r;
  Real x(start = 1, fixed = true), y(start = {generator.uniform(-1, 1)}, fixed = true);
initial equation
  n = integer({generator.uniform(1, 3)}*gain);
  b = gain > {a * generator.choice([0.9, 1.1])};
  r^3 + r = gain*exp(-r);
equation
  der(x) = -k*x + y;
  der(y) = r*sin(time) - {generator.uniform(0.1, 1)}*y;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end Sought{number};
""")
    return path


def check_sought(folder):
    """Initial equations give parameters of all types, and give them again if the parameters they follow from change."""
    check_drawn(folder, "sought", sought_model, random.Random(12), lambda number: 2 + number % 2, "gain=3.3")


RANDOM = """
function draw64
  input Integer before[2];
  output Real y;
  output Integer after[2];
  external "C" ModelicaRandom_xorshift64star(before, after, y);
end draw64;

function draw128
  input Integer before[4];
  output Real y;
  output Integer after[4];
  external "C" ModelicaRandom_xorshift128plus(before, after, y);
end draw128;

function draw1024
  input Integer before[33];
  output Real y;
  output Integer after[33];
  external "C" ModelicaRandom_xorshift1024star(before, after, y);
end draw1024;

model Random "samples, but no condition"
  discrete Real a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
  discrete Integer s[2](start = {7, -5}, each fixed = true), t[4](start = {1, 2, -3, 4}, each fixed = true);
  discrete Integer u[33](start = {k*k for k in 1:33}, each fixed = true);
  Real x(start = 0, fixed = true);
equation
  when sample(0, 0.125) then
    (a, s) = draw64(pre(s));
    (b, t) = draw128(pre(t));
    (c, u) = draw1024(pre(u));
  end when;
  der(x) = a + b*c - x;
  annotation(experiment(StopTime = 4, Tolerance = 1e-6));
end Random;
"""


def check_random(folder):
    """Generators of random numbers whose state the model keeps, bit by bit."""
    model = folder / "random.mo"
    model.write_text(RANDOM)
    run(DAEDAL, "export", model, "--c", folder / "random", "--standalone", "-q")
    run("cc", *STRICT, "-o", folder / "random" / "model", *sorted((folder / "random").glob("*.c")), "-lm")
    run(DAEDAL, "simulate", model, "-q", "--solver", "radau", "--output-file", folder / "random.csv")
    own, rows = run(folder / "random" / "model").stdout.splitlines()[1:], (folder / "random.csv").read_text().splitlines()[1:]
    assert own == rows, next((pair for pair in zip(own, rows) if pair[0] != pair[1]), (len(own), len(rows)))


def check_steps(folder):
    """A standalone program takes the steps of `simulate` with the same solver, past changes of states and events."""
    for name, solver, is_equal in (("pendulum.mo", "erk", True), ("modelica/house.mo", "radau", True), ("modelica/dry_friction.mo", "radau", True),
                                   ("events/bouncing_ball.mo", "erk", False), ("events/thermostat.mo", "radau", False), ("events/stick_slip.mo", "erk", False)):
        model, out = SOURCE / "examples" / name, folder / "steps.csv"
        run(DAEDAL, "export", model, "--c", folder / "steps", "--standalone", "--solver", solver, "-q")
        run(*COMPILE, "-o", folder / "steps" / "model", *sorted((folder / "steps").glob("*.c")), "-lm")
        done = run(folder / "steps" / "model")
        report = run(DAEDAL, "simulate", model, "-v", "--solver", solver, "--output-file", out)
        expected = re.search(r"steps +(\d+) accepted", report.stdout + report.stderr).group(1)
        assert done.stderr.splitlines()[-1].startswith(f"{expected} steps"), (name, solver, expected, done.stderr[-200:])
        own, (_, *rows) = list(csv.reader(done.stdout.splitlines()))[1:], csv.reader(out.read_text().splitlines())
        assert not is_equal or own == rows, (name, solver, next((pair for pair in zip(own, rows) if pair[0] != pair[1]), "other rows"))
        shutil.rmtree(folder / "steps")


def rated_model(generator, folder, number):
    """Two limiters of a rate in a row. Their outputs are differences of states over short times, so they amplify errors of states."""
    times = [10 ** generator.uniform(-5, -3) for _ in range(2)]
    rates = [generator.uniform(1, 4), generator.uniform(10, 40)]
    text = f"model Rated{number}\n  Real u, s(start = 0, fixed = true)"
    text += "".join(f", y{k}(start = 0, fixed = true), rate{k}" for k in range(2)) + f";\nequation\n  u = if time > {generator.uniform(0.05, 0.2)} then 1 else 0;\n"
    for k, source in enumerate(("u", "rate0")):
        text += (f"  rate{k} = if ({source} - y{k})/{times[k]} > {rates[k]} then {rates[k]} elseif ({source} - y{k})/{times[k]} < -{rates[k]} "
                 f"then -{rates[k]} else ({source} - y{k})/{times[k]};\n  der(y{k}) = rate{k};\n")
    path = folder / f"rated{number}.mo"
    path.write_text(text + f"  der(s) = y1;\n  annotation(experiment(StopTime = 1, Tolerance = 1e-6, Interval = 0.001));\nend Rated{number};\n")
    return path


def check_communication(folder):
    """Communication points take no steps: all values there are those of the standalone program, to the last bit."""
    generator, fmu, program = random.Random(29), folder / "rated.fmu", folder / "rated"
    for number in range(max(2, int(os.environ.get("DAEDAL_FMU_MODELS", "2")))):
        model = rated_model(generator, folder, number)
        run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", str(3 - number % 2), "-q")
        run(DAEDAL, "export", model, "--c", program, "--standalone", "-q")
        run("make", "-s", "-C", program, "CC=cc", "CFLAGS=-O0 -std=c99 -ffp-contract=off")
        lines = (run(program / "model").stdout, run(DRIVER, fmu, "rows").stdout)
        (header, *expected), (names, *rows) = (list(csv.reader(text.splitlines())) for text in lines)
        at = {round(float(row[0]), 9): dict(zip(header, row)) for row in expected}
        assert len(rows) > 900, len(rows)
        for row in rows:
            values = dict(zip(names, row))
            there = at[round(float(values["time"]), 9)]
            other = [(name, values[name], there[name]) for name in header[1:] if values[name] != there[name]]
            assert not other, (number, values["time"], other[:3])


def reset_model(generator, folder, number):
    """Coupled unknowns, one more than there are states, with stateSelect, and a reinit of one of them."""
    n = generator.randint(3, 5)
    wishes = [generator.choice(["default", "prefer", "prefer", "always", "avoid"]) for _ in range(n)]
    starts = [f", start = {generator.uniform(-1, 1)}, fixed = true" for _ in range(n - 1)] + [""]
    text = f"model Reset{number}\n  Real w;\n" + "".join(f"  Real x{k}(stateSelect = StateSelect.{wishes[k]}{starts[k]});\n" for k in range(n)) + "equation\n"
    for k in range(n - 1):
        text += f"  der(x{k}) = -{generator.uniform(0.2, 1)}*x{k} + ({generator.uniform(-0.3, 0.3)})*x{(k + 1) % n};\n"
    text += f"  x{n - 1} = {generator.choice(['0', '0.2*sin(x0)'])} + " + " + ".join(f"{generator.uniform(0.3, 1.5)}*x{k}" for k in range(n - 1)) + ";\n"
    text += "  w = " + " + ".join(f"der(x{k})" for k in range(n)) + ";\n"
    reset = generator.randrange(n)
    path = folder / f"reset{number}.mo"
    path.write_text(text + f"  when time > 0.5 then\n    reinit(x{reset}, pre(x{reset}) + ({generator.uniform(-1, 1)}));\n  end when;\n"
                    f"  annotation(experiment(StopTime = 1, Tolerance = 1e-8, Interval = 0.1));\nend Reset{number};\n")
    return path


def branch_model(generator, folder, number):
    """Branches that a parameter chooses at the start; with the other value, the chosen branch is undefined. The values in the text choose the other branch."""
    law, other = generator.choice([("log({})", "{} - 1"), ("sqrt({})", "-{}"), ("{}^1.5", "0.3*{}")])
    edge, kept = generator.uniform(-0.2, 0.2), generator.uniform(0.1, 0.5)
    path = folder / f"branch{number}.mo"
    path.write_text(f"""model Branch{number}
  parameter Real p = {edge + 2}, q = {generator.uniform(0.2, 0.8)};
  Real x, y(start = 0.5), z(start = 1, fixed = true), w;
  discrete Integer n(start = 0, fixed = true);
equation
  x = p - q*z;
  y + {kept}*sin(y) = if x > {edge} then {law.format(f"(x - ({edge}))")} + z else {other.format("x")};
  w = (if y > {generator.uniform(-0.5, 0.5)} then 1 else y^3) + x;
  der(z) = {generator.uniform(0.05, 0.2)}*w - z;
  when w > 0.5 then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8, Interval = 0.1));
end Branch{number};
""")
    return path


def check_branches(folder):
    """A parameter may change the branches in which a run starts, even if the equations have no solution in those of the text."""
    check_drawn(folder, "branch", branch_model, random.Random(8), lambda number: 2 + number % 2, "p=-0.7", 4)


def check_resets(folder):
    """A reinit leaves the columns unchanged that stateSelect prefers, even if they are not states now."""
    check_drawn(folder, "reset", reset_model, random.Random(4), lambda number: 2 + number % 2, None, 5)


def check_tables(folder):
    """Tables of every kind: smoothness, values beyond their ends, time events."""
    generator = random.Random(5)
    file, model, fmu = folder / "grid.txt", folder / "tables.mo", folder / "tables.fmu"
    file.write_text("#1\ndouble grid(4,4)\n0 0 1 2\n0 1 2 0\n1 3 1 1\n2 0 1 4\n")
    for number in range(int(os.environ.get("DAEDAL_FMU_MODELS", "1"))):
        text = TABLES.replace("@file", str(file))
        for name, low, high in (("@curve", 1, 6), ("@beyond", 1, 1), ("@grid", 1, 2), ("@time", 1, 5), ("@after", 1, 3)):
            text = text.replace(name, str(generator.choice([k for k in range(low, high + 1) if k != 3 or name in ("@after", "@time")])))
        model.write_text(text.replace("@shift", str(generator.uniform(0, 0.3))))
        run(DAEDAL, "export", model, "--model", "P.M", "--fmu", fmu, "--fmi", str(2 + number % 2), "-q")
        with zipfile.ZipFile(fmu) as archive:
            assert "sources/lookup.c" in archive.namelist()
            names = {v.get("name"): v.get("causality") for v in xml.fromstring(archive.read("modelDescription.xml")).find("ModelVariables")}
        assert names["g"] == "parameter" and names["k"] != "parameter", names  # a table is made from k
        for settings in ([], ["g=1.5"]):
            reference = simulate(model, folder, "--model", "P.M", *(["--override", ",".join(settings)] if settings else []))
            for kind in ("cs", "me"):
                compare(reference, drive(fmu, kind, "1e-8", *settings), 1e-7, f"tables {number} {kind} {settings}")
        drive(fmu, "state")
        drive(fmu, "state", "me")


def clutch_model(generator, folder, number):
    """Inertias in a chain, joined and separated again by clutches: index, number of states and speeds change at events."""
    n = generator.randint(1, 2)
    declare, equations = "", ""
    for k in range(n):
        declare += f"  Boolean engaged{k} = sin({generator.uniform(2, 6)}*time) > {generator.uniform(0.1, 0.6)}*limit;\n"
        equations += f"  0 = if engaged{k} then w[{k + 1}] - w[{k + 2}] else torque[{k + 1}];\n"
    path = folder / f"clutch{number}.mo"
    path.write_text(f"""model Clutch{number}
  parameter Real limit = 1, J[{n + 1}] = {{{', '.join(str(generator.uniform(0.5, 3)) for _ in range(n + 1))}}};
  Real w[{n + 1}](start = {{{', '.join(str(generator.uniform(-2, 2)) for _ in range(n + 1))}}}, each fixed = true), torque[{n}];
{declare}equation
  for i in 1:{n + 1} loop
    J[i]*der(w[i]) = (if i == 1 then 1 + sin(3*time) else torque[i - 1]) - (if i == {n + 1} then 0.3*w[i] else torque[i]);
  end for;
{equations}  annotation(experiment(StopTime = 3, Tolerance = 1e-8, Interval = 0.05));
end Clutch{number};
""")
    return path


def check_structures(folder):
    """Equations whose structure changes at events, to modes that the run at the export visited and to others."""
    check_drawn(folder, "clutch", clutch_model, random.Random(3), lambda number: 3 - number % 2, "limit=0.7")


def check_large(folder):
    """More equations than dense matrices are used for, with states that are chosen, in a chain of pendulums that hang on springs."""
    model, fmu, n = folder / "large.mo", folder / "large.fmu", 61
    model.write_text(f"""model Large
  constant Integer n = {n};
  input Real push;
  Real x[n](each start = 0.6), y[n](start = fill(-0.8, n), each fixed = true), vx[n](each start = 0), vy[n](each fixed = true), f[n], s[n + 1];
equation
  s[1] = push;
  s[n + 1] = 0;
  for i in 1:n loop
    der(x[i]) = vx[i];
    der(y[i]) = vy[i];
    der(vx[i]) = -f[i]*x[i] + s[i] - s[i + 1];
    der(vy[i]) = -f[i]*y[i] - 9.81 - i/n;
    x[i]^2 + y[i]^2 = 1;
  end for;
  for i in 2:n loop
    s[i] = 4*(x[i - 1] - x[i]) + 0.1*(s[i - 1] + s[i + 1]);
  end for;
  annotation(experiment(StopTime = 0.2, Tolerance = 1e-8, Interval = 0.02));
end Large;
""")
    run(DAEDAL, "export", model, "--fmu", fmu, "-q")
    with zipfile.ZipFile(fmu) as archive:
        assert int(re.search(rb"unknowns = \d+, \.rows = (\d+)", archive.read("sources/model.c"))[1]) > 250
    reference = simulate(model, folder)
    for kind in ("cs", "me"):
        compare(reference, drive(fmu, kind, "1e-8"), 1e-7, f"large {kind}")
    assert check_dependencies(fmu, check_description(fmu, 3, ["ModelExchange", "CoSimulation"])) < 1e-5
    drive(fmu, "state")


def check_standalone(folder):
    """Compiles without a warning under both compilers, and frees all memory that it allocates."""
    model = folder / "features.mo"
    target = folder / "standalone"
    run(DAEDAL, "export", model, "--c", target, "--standalone", "-q")
    sources = sorted(target.glob("*.c"))
    for compiler in ("gcc", "clang"):
        run(compiler, *STRICT, "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free", "-o", target / "model", *sources,
            write_counter(folder), "-lm")
        done = run(target / "model")
        assert "blocks left: 0" in done.stderr, done.stderr
        names, *rows = csv.reader(done.stdout.splitlines())
        values = dict(zip(names, map(float, rows[-1])))
        compare(simulate(model, folder), values, 1e-8, f"standalone {compiler}")


def write_counter(folder):
    """Write a C file that counts the blocks of memory that the solver's own objects hold."""
    path = folder / "counter.c"
    path.write_text("#include <stdio.h>\n#include <stddef.h>\nstatic int count;\n"
                    + "".join(f"void *__real_{f}({a});\nvoid *__wrap_{f}({a});\nvoid *__wrap_{f}({a}) {{ count += {c}; return __real_{f}({n}); }}\n"
                              for f, a, n, c in (("malloc", "size_t a", "a", "1"), ("calloc", "size_t a, size_t b", "a, b", "1"),
                                                 ("realloc", "void *a, size_t b", "a, b", "!a")))
                    + "void __real_free(void *a);\nvoid __wrap_free(void *a);\nvoid __wrap_free(void *a) { count -= a != NULL; __real_free(a); }\n"
                    + "__attribute__((destructor)) static void tell(void) { fprintf(stderr, \"blocks left: %d\\n\", count); }\n")
    return path


def check_refusals(folder):
    """Models that cannot be exported are refused, with the name of the cause, and leave no file."""
    model, fmu, table = folder / "refused.mo", folder / "refused.fmu", folder / "u.csv"
    model.write_text("model Refused\n  input Real u;\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = u;\nend Refused;\n")
    table.write_text("time,u\n0,1\n1,2\n")
    done = run(DAEDAL, "export", model, "--fmu", fmu, "--input", table, status=4)
    assert "gives the input u" in done.stderr and not fmu.exists(), done.stderr
    model.write_text("model Shot\n  Real x(start = 0, fixed = true), v(start = 0.1);\nequation\n  der(x) = v;\n  der(v) = x;\nfinal equation\n  x = 1;\nend Shot;\n")
    for arguments in (["--fmu", fmu], ["--c", folder / "refused", "--standalone"], ["--c", folder / "refused"]):
        done = run(DAEDAL, "export", model, *arguments, status=4)
        assert "final equations" in done.stderr and not fmu.exists(), done.stderr
    done = run(DAEDAL, "export", SOURCE / "examples" / "pendulum.mo", "--fmu", fmu, "--solver", "ida", status=4)
    assert "integrates by radau, bdf or erk" in done.stderr and not fmu.exists(), done.stderr
    for arguments in (["--fmu", "x.fmu", "--c", "x"], ["--fmi", "3"], ["--fmu", "x.fmu", "--fmi", "1"],
                      ["--fmu", "x.fmu", "--kind", "both"], ["--fmu", "x.fmu", "--standalone"], []):
        run(DAEDAL, "export", SOURCE / "examples" / "pendulum.mo", *arguments, status=2)
    model.write_text("model Settled Real x(start = 1, fixed = true), y = 2*x; equation der(x) = -x; end Settled;\n")
    for version in ("2", "3"):
        run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", version, "-q")
        done = run(DRIVER, fmu, "cs", "1e-6", "y=3", status=1)
        assert "y cannot be set: equations determine it" in done.stdout + done.stderr, done


def check_examples(folder):
    for model in sorted((SOURCE / "examples").rglob("*.mo")) + sorted((SOURCE / "examples").rglob("*.cir")):
        name = model.relative_to(SOURCE / "examples")
        for version in ("2", "3"):
            fmu = folder / "example.fmu"
            done = subprocess.run([DAEDAL, "export", model, "--fmu", fmu, "--fmi", version, "-q"], capture_output=True, text=True)
            if done.returncode == 4:
                print(name, "refused:", done.stderr.strip())
                break
            assert done.returncode == 0, f"{name}: {done.stderr}"
            reference = simulate(model, folder, "--tolerance", "1e-8")
            print(name, version, f"{compare(reference, drive(fmu, 'cs', '1e-8'), 1e-6, f'{name} cs {version}'):.2g}", flush=True)


def check_solvers(folder):
    """Explicit Runge-Kutta and BDF: events, delays, structures that change, saved states."""
    features, fmu, generator = folder / "features.mo", folder / "solvers.fmu", random.Random(3)
    features.write_text(FEATURES)
    for model, setting in ((features, "mass=3"), (delay_model(generator, folder, 7), "gain=1.3"), (clutch_model(generator, folder, 7), None)):
        for version, solver, allowed in (("2", "erk", 1e-7), ("3", "bdf", 2e-6)):
            if solver == "bdf" and "delay(" in model.read_text():
                done = run(DAEDAL, "export", model, "--fmu", folder / "refused.fmu", "--solver", solver, status=4)
                assert "exported code with delays" in done.stderr, done.stderr
                continue
            run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", version, "--solver", solver, "-q")
            for settings in ([], [setting]) if setting else ([],):
                reference = simulate(model, folder, *(["--override", ",".join(settings)] if settings else []))
                compare(reference, drive(fmu, "cs", "1e-8", *settings), allowed, f"{model} {solver} {version} {settings}")
            drive(fmu, "state")
        drive(fmu, "many", 100)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_features(folder)
        check_pendulum(folder)
        check_platforms(folder)
        check_tuned(folder)
        check_preferences(folder)
        check_short_events(folder)
        check_driven(folder)
        check_kinds(folder)
        check_random_dependencies(folder)
        check_times(folder)
        check_sliding(folder)
        check_delays(folder)
        check_sought(folder)
        check_random(folder)
        check_steps(folder)
        check_communication(folder)
        check_resets(folder)
        check_branches(folder)
        check_tables(folder)
        check_structures(folder)
        check_large(folder)
        check_standalone(folder)
        check_solvers(folder)
        check_refusals(folder)
        if os.environ.get("DAEDAL_FMU_ALL"):
            check_examples(folder)


if __name__ == "__main__":
    main()
