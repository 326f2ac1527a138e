"""The package as a user sees it."""
import gc
import math
import os
import pathlib
import pickle
import signal
import threading
import zipfile

import numpy as np
import pytest

import daedal

PENDULUM = """
model Pendulum
  parameter Real g = 9.81; parameter Real L(unit = "m") = 1 "length";
  Real x(start = 1), y(start = 0, fixed = true), u(start = 0), v(start = 0, fixed = true), s;
equation
  der(x) = u; der(y) = v; der(u) = -s*x; der(v) = -s*y - g; x^2 + y^2 = L^2;
  annotation(experiment(StopTime = 2));
end Pendulum;
"""
INTEGRAL = """
model Integral
  input Real u(start = 0.25); parameter Real gain = 1; Real x(start = 0, fixed = true), w[2,3];
equation
  der(x) = gain*u; w = {{i*x + j for j in 1:3} for i in 1:2};
  annotation(experiment(StopTime = 2));
end Integral;
"""
FOLLOWER = """
model Follower input Real u; Real x, v, f; equation der(x) = v; der(v) = f; x = u; end Follower;
"""
ENDLESS = "model E Real x(start = 0, fixed = true); equation der(x) = sin(1e4*time); annotation(experiment(StopTime = 1e6)); end E;"


@pytest.fixture(scope="module")
def pendulum():
    return daedal.Model(PENDULUM)


def test_simulate_gives_arrays_by_name(pendulum):
    result = pendulum.simulate(tolerance=1e-8)
    assert result["time"][0] == 0 and result.time[-1] == 2
    assert np.abs(result["x"] ** 2 + result["y"] ** 2 - 1).max() < 1e-9
    assert result["x"].shape == result.time.shape
    assert "x" in result and "nothing" not in result
    assert result.unit("L") == "m"
    assert result.end["L"] == 1
    assert result.statistics.steps > 10 and result.statistics.method == "dummy"
    assert result.certificate["events_complete"] == 1 and result.certificate["unproven"] == []
    assert all(len(pivot) == 3 for pivot in result.pivots)


def test_verify_says_how_many_digits_are_right(pendulum):
    assert pendulum.simulate().verify is None
    result = pendulum.simulate(tolerance=1e-6, solver="bdf", verify=True)
    assert result.verify["status"] == "ok" and result.verify["solver"] == "radau"
    exact = pendulum.simulate(tolerance=1e-11)["x"]
    found = {one["name"]: one["digits"] for one in result.verify["variables"]}
    assert abs(found["x"] + np.log10(np.abs(result["x"] - exact).max() / np.abs(exact).max())) < 0.1
    assert result.verify["digits"] == min(digits for digits in found.values() if digits is not None)
    assert pickle.loads(pickle.dumps(result)).verify == result.verify


def test_arrays_are_read_only_and_outlive_the_result(pendulum):
    x = pendulum.simulate()["x"]
    gc.collect()
    assert x[0] == 1
    with pytest.raises(ValueError):
        x[0] = 2


def test_parameters_by_keyword_and_mapping(pendulum):
    by_keyword = pendulum.simulate(L=2, x=2)
    by_mapping = pendulum.simulate(parameters={"L": 2, "x": np.float64(2)})
    assert by_keyword["x"][0] == 2
    np.testing.assert_array_equal(by_keyword["x"], by_mapping["x"])
    assert abs(math.hypot(by_keyword["x"][-1], by_keyword["y"][-1]) - 2) < 1e-9


def test_files_and_options(tmp_path):
    path = tmp_path / "pendulum.mo"
    path.write_text(PENDULUM)
    result = daedal.simulate(path, stop_time=1, intervals=10, method="projection", solver="radau")
    assert len(result.time) >= 11 and result.statistics.solver == "radau"
    result.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("time,")
    with pytest.raises(daedal.FileError):
        result.write(tmp_path / "missing" / "out.csv")


def test_array_variables_have_their_shape():
    result = daedal.simulate(INTEGRAL, inputs={"u": "1"}, intervals=4)
    assert result["w"].shape == (len(result.time), 2, 3)
    np.testing.assert_allclose(result["w"][:, 1, 2], 2 * result["x"] + 3)
    with pytest.raises(KeyError):
        result["nothing"]


def test_pandas(pendulum):
    pandas = pytest.importorskip("pandas")
    frame = pendulum.simulate().to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "time" and frame["x"].iloc[0] == 1


def test_errors_say_where():
    with pytest.raises(daedal.ModelError) as caught:
        daedal.Model("model M\n  Real x;\nequation\n  der(x) = y;\nend M;\n")
    assert caught.value.place.line == 4 and caught.value.place.column == 12
    assert "`y` is not declared" in str(caught.value) and "^" in str(caught.value)
    with pytest.raises(daedal.StructureError):
        daedal.simulate("model M Real x, y; equation x = 1; x = 2; end M;")
    with pytest.raises(daedal.InitializationError):
        daedal.simulate("model M Real x; equation x^2 = -1; end M;")
    with pytest.raises(daedal.FileError):
        daedal.Model("nowhere.mo")
    with pytest.raises(ValueError):
        daedal.simulate(PENDULUM, nothing=1)
    with pytest.raises(daedal.UsageError):
        daedal.simulate(PENDULUM, solver="nothing")


def test_a_failed_integration_keeps_what_it_has():
    with pytest.raises(daedal.IntegrationError) as caught:
        daedal.simulate("model M Real x(start = 1, fixed = true); equation der(x) = x^2; annotation(experiment(StopTime = 2)); end M;")
    assert 0.5 < caught.value.result.time[-1] < 1.01


def test_warnings_are_pythons():
    with pytest.warns(daedal.DaedalWarning, match="input"):
        daedal.simulate(INTEGRAL)


def test_inputs():
    times, values = [0, 1, 1, 2], [0, 1, 3, 3]
    assert daedal.simulate(INTEGRAL, inputs={"u": (times, values)})["x"][-1] == pytest.approx(3.5)
    assert daedal.simulate(INTEGRAL, inputs={"u": "3*time^2"})["x"][-1] == pytest.approx(8)
    assert daedal.simulate(INTEGRAL, inputs={"u": lambda t: 2 * t})["x"][-1] == pytest.approx(4)
    result = daedal.simulate(FOLLOWER, inputs={"u": (math.sin, math.cos, lambda t: -math.sin(t))})
    np.testing.assert_allclose(result["f"], -np.sin(result.time), atol=1e-9)
    with pytest.raises(daedal.StructureError, match="derivative 2 of the input `u`"):
        daedal.simulate(FOLLOWER, inputs={"u": math.sin})
    with pytest.raises(ZeroDivisionError):
        daedal.simulate(INTEGRAL, inputs={"u": lambda t: 1 / 0})


def test_tables_in_files(tmp_path):
    path = tmp_path / "u.csv"
    path.write_text("time,u\n0,1\n1,3\n2,3\n")
    assert daedal.simulate(INTEGRAL, inputs=str(path))["x"][-1] == pytest.approx(5)
    assert daedal.simulate(INTEGRAL, inputs=(path, "held"))["x"][-1] == pytest.approx(4)


def test_variables_are_listed():
    model = daedal.Model(INTEGRAL)
    assert model.inputs == ["u"] and list(model.parameters) == ["gain"]
    assert model.variables["w[2,3]"].kind == daedal.Kind.CONTINUOUS
    assert daedal.Model(PENDULUM).variables["L"].description == "length"
    assert daedal.Model(PENDULUM).analyze().structural_index == 3


def test_stepping_with_an_input():
    run = daedal.Model(INTEGRAL).plan(inputs={"u": None}).run().start()
    expected, value = 0.0, 0.25
    for k in range(1, 9):
        run.advance(k / 4)
        expected += value / 4
        assert run["x"] == pytest.approx(expected)
        value = math.sin(k)
        run["u"] = value
        assert run.derivative("x") == pytest.approx(value)
    assert run.ended and run.time == 2
    with pytest.raises(ValueError):
        run.advance(1)
    with pytest.raises(ValueError):
        run["gain"] = 2
    with pytest.raises(KeyError):
        run["nothing"]


def test_save_restore_and_clone(pendulum):
    run = pendulum.plan(tolerance=1e-8).run(g=5).start()
    run.advance(0.7)
    state, clone = run.save(), run.clone()
    run.advance(1.9)
    first = run.values.copy()
    np.testing.assert_array_equal(run.restore(state).advance(1.9).values, first)
    np.testing.assert_array_equal(clone.advance(1.9).values, first)
    np.testing.assert_array_equal(run.interpolate(1.9), first)
    with pytest.raises(ValueError):
        clone.restore(state)
    run.start()
    with pytest.raises(ValueError):
        run.restore(state)


def test_a_plan_runs_often(pendulum):
    plan = pendulum.plan()
    results = [plan.simulate(L=length, x=length) for length in (1, 2, 3)]
    assert [round(float(np.hypot(r["x"][-1], r["y"][-1])), 9) for r in results] == [1, 2, 3]
    run = plan.run(L=2, x=2)
    np.testing.assert_array_equal(run.execute()["x"], run.execute()["x"])


def test_threads_share_a_plan(pendulum):
    plan = pendulum.plan()
    expected = plan.simulate(g=3)["x"].copy()
    found = []

    def work():
        for _ in range(10):
            found.append(np.array_equal(plan.simulate(g=3)["x"], expected))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 40


def test_progress(pendulum):
    seen = []
    pendulum.simulate(progress=seen.append)
    assert seen and all(0 <= part <= 1 for part in seen)

    def stop(part):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pendulum.simulate(progress=stop)


def test_an_interrupt_ends_the_run():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        daedal.simulate(ENDLESS, intervals=1)


def test_display(pendulum):
    result = pendulum.simulate()
    page = result._repr_html_()
    assert "<svg" in page and "<table>" in page and "der(x)" in page
    assert "signals" in repr(result) and "Pendulum" in repr(pendulum)
    assert "2 parameters, 5 continuous variables<" in pendulum._repr_html_()
    assert repr(daedal.linearize(pendulum)) == "<daedal.Linear: 2 states, 0 inputs, 0 outputs, at time 0>"
    assert repr(pendulum.compare(["dummy"], "radau")) == "<daedal.Comparison: dummy with radau>"
    decay = daedal.simulate("model M Real speed(start = 1, fixed = true); equation der(speed) = -speed; end M;")
    for wrong in ("SPEED", "sped", "speeed"):
        with pytest.raises(KeyError, match="did you mean 'speed'"):
            decay[wrong]


def test_flatten(pendulum):
    assert "model" in pendulum.flatten()
    assert pathlib.Path(daedal.__file__).with_name("py.typed").exists()


def test_sweep_over_combinations_and_samples(pendulum):
    table = daedal.sweep(pendulum, {"L": np.linspace(1, 2, 3), "g": [5, 10]}, outputs=["x", "y", ("max", "y")], tolerance=1e-8)
    assert list(table) == ["L", "g", "x", "y", "max(y)"] and table.varied == ["L", "g"] and table.points == 6
    assert np.allclose(np.hypot(table["x"], table["y"]), table["L"])
    assert list(table["L"].reshape(3, 2)[:, 0]) == [1, 1.5, 2]
    assert table["x"][3] == pytest.approx(pendulum.simulate(L=1.5, g=10, tolerance=1e-8)["x"][-1], abs=1e-6)
    sampled = daedal.sweep(pendulum, distributions={"L": ("normal", 1, 0.1)}, samples=64, outputs="x", seed=3, threads=2)
    assert abs(sampled["L"].mean() - 1) < 0.01 and abs(sampled["L"].std() - 0.1) < 0.01
    again = daedal.sweep(pendulum, distributions={"L": ("normal", 1, 0.1)}, samples=64, outputs="x", seed=3, threads=1)
    assert np.array_equal(sampled["x"], again["x"])


def test_sweep_with_points_that_fail(pendulum):
    table = daedal.sweep(pendulum, {"L": [1, 0]}, outputs="x")
    assert list(table.status) == [0, 6] and table.causes[1] and not table.causes[0] and math.isnan(table["x"][1])
    with pytest.raises(daedal.UsageError, match="length|no variable"):
        daedal.sweep(pendulum, {"length": [1]})
    with pytest.raises(ZeroDivisionError):
        daedal.sweep(pendulum, {"L": np.linspace(1, 2, 50)}, progress=lambda part: 1 / 0)


def test_gradient_is_that_of_sensitivities(pendulum):
    same = {"stop_time": 2, "tolerance": 1e-9, "solver": "radau"}
    forward = pendulum.simulate(**same, sensitivity=["L", "g", "y.start"])
    result = pendulum.simulate(**same, gradient="x", gradient_by=["L", "g", "y.start"])
    assert result.functional == pytest.approx(forward["x"][-1], rel=1e-10)
    assert list(result.gradient) == ["L", "g", "y.start"]
    for target, value in result.gradient.items():
        assert value == pytest.approx(forward.sensitivity("x", target)[-1], rel=1e-6)
    assert set(pendulum.simulate(stop_time=0.1, gradient=("integral", "y")).gradient) == {"L", "g", "y.start", "v.start"}
    assert np.isnan(forward.functional) and forward.gradient == {}


def test_linear_form():
    form = daedal.linearize("""model Oscillator
      parameter Real d = 0.2; input Real u; output Real z = x + 3*u; Real x(start = 0, fixed = true), v(start = 0, fixed = true);
    equation
      der(x) = v; der(v) = -4*x - d*v + 2*u;
    end Oscillator;""", d=0.4)
    assert (form.states, form.inputs, form.outputs) == (["x", "der(x)"], ["u"], ["z"])
    np.testing.assert_allclose(form.A, [[0, 1], [-4, -0.4]])
    np.testing.assert_allclose(form.B, [[0], [2]])
    np.testing.assert_allclose(form.C, [[1, 0]])
    np.testing.assert_allclose(form.D, [[3]])
    np.testing.assert_allclose(sorted(form.eigenvalues, key=lambda e: e.imag), [-0.2 - 1j * 3.96**0.5, -0.2 + 1j * 3.96**0.5])
    assert form.bode().startswith("<svg") and "A" in str(form)


def test_steady_state(pendulum):
    state = daedal.steady(pendulum)
    assert abs(state["y"]) == pytest.approx(1) and len(state) > 4
    assert state.stability == ("undecided" if state["y"] < 0 else "unstable") and state.linear.A.shape == (2, 2)
    np.testing.assert_allclose(abs(state.linear.eigenvalues), 9.81**0.5)


def test_fit_of_two_parameters(pendulum):
    times = np.linspace(0, 2, 60)
    result = pendulum.simulate(L=1.2, g=9, tolerance=1e-10, intervals=59)
    noise = np.random.default_rng(1).normal(0, 1e-3, (2, 60))
    data = {"time": times, "x": np.interp(times, result.time, result["x"]) + noise[0], "y": np.interp(times, result.time, result["y"]) + noise[1]}
    found = daedal.fit(pendulum, data, {"L": 1.0, "g": (9.81, 5, 15)})
    assert abs(found["L"] - 1.2) < 4 * found.errors["L"] and abs(found["g"] - 9) < 4 * found.errors["g"]
    low, high = found.intervals["L"]
    assert low < found["L"] < high and found.covariance.shape == (2, 2) and abs(found.correlation[0, 1]) < 1
    assert "95 % interval" in str(found) and found.plot().startswith("<svg") and not found.at_bound["g"]
    for names in (["L", "g"], ("g", "L")):
        assert abs(daedal.fit(pendulum, data, names)["g"] - found["g"]) < 1e-3
    with pytest.raises(daedal.UsageError):
        daedal.fit(pendulum, data, {"Q": 1})


def test_exports(pendulum, tmp_path):
    result = pendulum.export_fmu(tmp_path / "pendulum.fmu", {"L": 2}, fmi=2, kind="cs", stop_time=5)
    with zipfile.ZipFile(tmp_path / "pendulum.fmu") as archive:
        text = archive.read("modelDescription.xml").decode()
    assert 'stopTime="5"' in text and "CoSimulation" in text and "ModelExchange" not in text and result["x"][0] == 2
    pendulum.export_solver(tmp_path / "solver")
    assert (tmp_path / "solver" / "model.c").exists()
    with pytest.raises(daedal.UsageError):
        pendulum.export_fmu(tmp_path / "other.fmu", fmi=4)


def test_events_call_back():
    text = "model M Real x(start = 0, fixed = true); Boolean high = x > 0.5; equation der(x) = cos(time); end M;"
    seen = []
    result = daedal.simulate(text, stop_time=8, on_event=seen.append)
    crossings = [event for event in seen if event.direction]
    assert [event.direction for event in crossings] == [1, -1, 1] and [event.direction for event in result.events if event.direction] == [1, -1, 1]
    assert crossings[0].time == pytest.approx(np.pi / 6, abs=1e-4) and "x > 0.5" in crossings[0].condition
    stopped = daedal.simulate(text, stop_time=8, on_event=lambda event: event.direction < 0)
    assert stopped.end["time"] == pytest.approx(5 * np.pi / 6, abs=1e-4)
    with pytest.raises(ZeroDivisionError):
        daedal.simulate(text, stop_time=8, on_event=lambda event: 1 / 0)


def test_absolute_tolerances():
    text = "model M Real x(start = 1e-6, fixed = true); equation der(x) = 1e-6*cos(5*time) - 5*x; end M;"
    coarse, fine = (daedal.simulate(text, absolute_tolerances=given).statistics.steps for given in ({"x": 1e-6}, {"x": 1e-14}))
    assert fine > 2 * coarse
    with pytest.raises(daedal.UsageError, match="above zero"):
        daedal.simulate(text, absolute_tolerances={"x": 0})


def test_suggestions():
    """The error for a misspelt option or signal suggests the right one; a parameter whose name is similar to an option is still a parameter."""
    text = "model M parameter Real tolerances = 2; Real speed(start = 1, fixed = true); equation der(speed) = -tolerances; end M;"
    with pytest.raises(daedal.UsageError, match="'stop_time'"):
        daedal.simulate(text, stop_tme=2)
    with pytest.raises(daedal.UsageError, match="did you mean 'stop_time'"):
        daedal.simulate(text, stop=3)
    with pytest.raises(daedal.UsageError, match="'tolerance'"):
        daedal.simulate(text, tolerence=1e-3)
    result = daedal.simulate(text, tolerances=3, stop_time=1)
    assert abs(result["speed"][-1] + 2) < 1e-6
    with pytest.raises(KeyError, match="'speed'"):
        result["sped"]


def test_the_command_of_an_installation_is_found(tmp_path, monkeypatch):
    """A package in PREFIX/lib/.../daedal uses PREFIX/bin/daedal, even if that is not on the path."""
    from daedal import _report
    command = tmp_path / "bin" / "daedal"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setattr(_report, "__file__", str(tmp_path / "lib" / "python3" / "dist-packages" / "daedal" / "_report.py"))
    monkeypatch.setattr(_report.sysconfig, "get_path", lambda name: str(tmp_path / "nowhere"))
    monkeypatch.setattr(_report.sys, "executable", str(tmp_path / "nowhere" / "python3"))
    for name in ("DAEDAL_COMMAND", "DAEDAL_LIBRARY", "PATH"):
        monkeypatch.delenv(name, raising=False)
    assert _report._command() == str(command)
