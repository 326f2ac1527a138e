"""Objects of the package are passed on, copied and dropped in every way that Python has, and get every kind of wrong number. There is no crash, and an error names what is wrong. All
combinations of the lists of classes, ways, options and values are tried."""
import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import daedal

TEXT = """model Decay
  parameter Real k = 1;
  input Real u(start = 0);
  output Real y;
  Real x(start = 1, fixed = true);
equation
  der(x) = u - k*x;
  y = 2*x;
end Decay;
"""


def make_fit():
    t = np.linspace(0, 1, 11)
    return daedal.fit(TEXT, {"time": t, "x": np.exp(-2 * t)}, {"k": 1.0}, inputs={"u": 0})


def make_error():
    with pytest.raises(daedal.IntegrationError) as caught:
        daedal.simulate("model M Real x(start = 1, fixed = true), y; equation der(x) = -1; y = sqrt(x); end M;", stop_time=2)
    return caught.value


# class: how to make an object, and how to check a copy
BY_VALUE = {
    "Model": (lambda: daedal.Model(TEXT), lambda m: m.simulate(k=2)["x"].tolist()),
    "Result": (lambda: daedal.simulate(TEXT, k=2), lambda r: (r["x"].tolist(), r.names, r.statistics.steps, r.status, r.unit("x"), r.end)),
    "Linear": (lambda: daedal.linearize(TEXT, by=["u"], outputs=["y"]), lambda f: (f.A.tolist(), f.bode(), str(f))),
    "Steady": (lambda: daedal.steady(TEXT), lambda s: (dict(s), str(s), s.linear.A.tolist())),
    "Sweep": (lambda: daedal.sweep(TEXT, {"k": [1, 2]}, outputs=["x"], inputs={"u": 0}), lambda s: (s["x"].tolist(), s.causes)),
    "Estimate": (make_fit, lambda e: (dict(e), e.errors, str(e))),
    "Variable": (lambda: daedal.Model(TEXT).variables["x"], repr),
    "Analysis": (lambda: daedal.Model(TEXT).analyze(), repr),
    "Error": (make_error, lambda e: (str(e), e.diagnostics, e.result["x"].tolist())),
}
BY_HANDLE = {
    "Plan": lambda: daedal.Model(TEXT).plan(),
    "Run": lambda: daedal.Model(TEXT).plan().run(),
    "started Run": lambda: daedal.Model(TEXT).plan().run().start(),
    "State": lambda: daedal.Model(TEXT).plan().run().start().save(),
}
WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "copy in a list": lambda o: copy.deepcopy([o])[0],
        **{f"pickle {p}": lambda o, p=p: pickle.loads(pickle.dumps(o, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)}}


@pytest.mark.filterwarnings("ignore::daedal.DaedalWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BY_VALUE)
def test_values_are_copied(name, way):
    make, shows = BY_VALUE[name]
    original = make()
    expected = shows(original)
    twice = WAYS[way](WAYS[way](original))
    del original
    gc.collect()
    assert type(twice) is type(make()) and shows(twice) == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BY_HANDLE)
def test_handles_are_not(name, way):
    original = BY_HANDLE[name]()
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        WAYS[way](original)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        WAYS[way](getattr(original, "_handle", original))


def test_a_pickled_result(tmp_path):
    result = daedal.simulate("model M Real r[2, 3] = fill(time, 2, 3); Real x(start = 1, fixed = true) = time + 1; end M;", intervals=4)
    other = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(other["r"], result["r"])
    with pytest.raises(ValueError):
        other["x"][0] = 5
    result.write(tmp_path / "a.csv")
    other.write(tmp_path / "b.csv")
    first, second = (np.genfromtxt(tmp_path / f, delimiter=",", skip_header=1) for f in ("a.csv", "b.csv"))
    np.testing.assert_array_equal(first, second)
    assert (tmp_path / "a.csv").read_text().split("\n")[0].replace('"', "") == (tmp_path / "b.csv").read_text().split("\n")[0].replace('"', "")
    with pytest.raises(daedal.UsageError, match="ends in .csv"):
        other.write(tmp_path / "b.mat")
    with pytest.raises(daedal.UsageError, match="draws no pictures"):
        other.plot()
    assert "<table>" in other._repr_html_() and "Result" in repr(other)


def test_curves_on_axes_of_matplotlib(tmp_path):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    result = daedal.simulate("model M Real x(start = 1, fixed = true), y; equation der(x) = -x; y = 2*x; end M;", intervals=4)
    for one in result, pickle.loads(pickle.dumps(result)):
        for asked, labels in (({}, ["x"]), ({"variables": ["y", "x"], "log": "y"}, ["y", "x"]), ({"pairs": [("x", "y")]}, ["y over x"])):
            axes = figure.subplots()
            assert one.plot(axes=axes, **asked) is axes and [line.get_label() for line in axes.lines] == labels
            np.testing.assert_array_equal(axes.lines[0].get_ydata(), result[labels[0].split()[0]])
            assert axes.get_yscale() == ("log" if "log" in asked else "linear")
    figure.savefig(tmp_path / "p.png")


def test_a_pickled_model_needs_no_file(tmp_path):
    for name, text in (("m.mo", TEXT), ("c.cir", "a circuit\nV1 a 0 1\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 1m\n.end\n")):
        path = tmp_path / name
        path.write_text(text)
        model = daedal.Model(path)
        expected = model.simulate().end
        data = pickle.dumps(model)
        path.unlink()
        assert pickle.loads(data).simulate().end == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes(method, tmp_path):
    """Models go to other processes, results and errors come back."""
    script = tmp_path / "work.py"
    script.write_text(f"""
import multiprocessing, sys, daedal, numpy as np
TEXT = {TEXT!r}
def work(model, k):
    return model.simulate(k=k)
def fail(model):
    model.simulate(nothing=1)
if __name__ == "__main__":
    model = daedal.Model(TEXT)
    held, plan, run = model.simulate(k=1), model.plan(), model.plan().run().start()
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        for k, result in zip((1, 2, 3), pool.starmap(work, [(model, k) for k in (1, 2, 3)])):
            assert abs(result["x"][-1] - np.exp(-k)) < 1e-4, k
        try:
            pool.apply(fail, (model,))
        except daedal.UsageError as error:
            assert "nothing" in str(error)
        try:
            pool.apply(work, (run, 1))
        except TypeError as error:
            assert "cannot be copied or pickled" in str(error)
    assert run.advance(1)["x"] > 0 and held["x"][0] == 1
    print("fine")
""")
    done = subprocess.run([sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout.strip() == "fine", done.stderr


@pytest.mark.filterwarnings("ignore::daedal.DaedalWarning")
@pytest.mark.parametrize("name", [*BY_VALUE, *BY_HANDLE])
def test_weak_references(name):
    if name in ("Variable", "Analysis", "Error"):
        return
    made = (BY_VALUE[name][0] if name in BY_VALUE else BY_HANDLE[name])()
    reference = weakref.ref(made)
    del made
    gc.collect()
    assert reference() is None


def test_orders_of_the_end():
    """An object may outlive the one it was made from; they are freed in any order."""
    import itertools

    for order in list(itertools.permutations(range(6)))[::17]:
        model = daedal.Model(TEXT)
        plan = model.plan()
        run = plan.run().start()
        state, clone = run.save(), run.clone()
        column = plan.simulate()["x"]
        objects = [model, plan, run, state, clone, column]
        del model, plan, run, state, clone, column
        for k in order:
            objects[k] = None
        gc.collect()
    run = daedal.Model(TEXT).plan().run().start()
    values, state = run.values, run.save()
    run.start()
    del state
    run.advance(1)
    del run
    gc.collect()
    assert np.isfinite(values[0])


def test_threads_share_objects():
    """One result, one run: threads take turns."""
    result, run = daedal.simulate(TEXT), daedal.Model(TEXT).plan(stop_time=100).run().start()
    errors = []

    def work(k):
        try:
            for j in range(20):
                assert result["x"][0] == 1 and result.statistics.steps > 0 and result.plot()
                run.step()
                run["x"]
                run.restore(run.save())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors, errors


def test_a_run_is_not_used_by_what_it_calls():
    seen, run = [], None

    def value(t):
        try:
            if run:
                run["x"]
        except RuntimeError as error:
            seen.append(str(error))
        return 0.0

    run = daedal.Model(TEXT).plan(inputs={"u": value}).run()
    run.start().step()
    assert seen and "in use" in seen[0]


# ---- numbers ----

NUMBERS = ["start_time", "stop_time", "tolerance", "output_interval", "max_step", "constraint_tolerance", "gradient_memory"]
WRONG = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "negative": -3, "2**1100": 2**1100, "text": "1", "bool": True,
         "complex": 1j, "list": [1], "numpy nan": np.float64("nan")}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_refused_by_name(name, wrong):
    if (name, wrong) == ("start_time", "negative"):
        return
    with pytest.raises((daedal.UsageError, TypeError)) as caught:
        daedal.simulate(TEXT, **{name: WRONG[wrong]}, **({"gradient": "x"} if name == "gradient_memory" else {}))
    words = {"max_step": "longest step", "gradient_memory": "memory of the gradient"}.get(name, name.replace("_", " "))
    assert name in str(caught.value) or words in str(caught.value)


COUNTS = {"intervals": lambda v: daedal.simulate(TEXT, intervals=v),
          "samples": lambda v: daedal.sweep(TEXT, distributions={"k": ("normal", 1, 0.1)}, samples=v),
          "threads": lambda v: daedal.sweep(TEXT, {"k": [1]}, threads=v),
          "seed": lambda v: daedal.sweep(TEXT, {"k": [1]}, seed=v),
          "iterations": lambda v: daedal.fit(TEXT, {"time": [0, 1], "x": [1, 1]}, {"k": 1}, iterations=v),
          "fmi": lambda v: daedal.Model(TEXT).export_fmu("/nowhere/m.fmu", fmi=v)}
WRONG_COUNTS = {"negative": -5, "2**32 + 5": 2**32 + 5, "2**64": 2**64, "fraction": 1.5, "whole fraction": 2.0, "text": "5", "bool": True,
                "None": None, "nan": float("nan"), "inf": float("inf")}


@pytest.mark.parametrize("wrong", WRONG_COUNTS)
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_refused_by_name(name, wrong):
    if (name, wrong) in (("seed", "2**32 + 5"), ("intervals", "None")):
        return
    with pytest.raises((daedal.UsageError, TypeError), match=name):
        COUNTS[name](WRONG_COUNTS[wrong])


def test_good_numbers_of_all_kinds():
    for value in (2, 2.0, np.int64(2), np.float32(2), np.array(2)):
        assert daedal.simulate(TEXT, stop_time=value).time[-1] == 2
    for value in (4, np.int32(4), np.uint8(4)):
        assert len(daedal.simulate(TEXT, intervals=value).time) == 5
    assert daedal.simulate(TEXT, stop_time=None, intervals=None).time[-1] == 1


@pytest.mark.parametrize("value", ["1, x=55", "1,x=55", "{1},x={5}", "1}", "{1", "'", '"', "", " ", "1)", "f(1), x=55", b"1, x=55"])
def test_a_value_is_one_value(value):
    for call in (lambda: daedal.simulate(TEXT, k=value), lambda: daedal.simulate(TEXT, {"k": value}),
                 lambda: daedal.simulate(TEXT, inputs={"u": value if isinstance(value, str) else str(value)})):
        with pytest.raises(daedal.Error, match="k|u"):
            call()


def test_texts_with_commas():
    model = daedal.Model('model M parameter String s = "a"; parameter Real r[:] = {1, 2}; Real x = sum(r); end M;')
    assert model.simulate(s='"a, b"')["x"][0] == 3
    assert model.simulate(r=[1, 2, 4])["x"][0] == 7 and model.simulate(r="{1, 2, 5}")["x"][0] == 8


def test_names_hold_no_list():
    for inputs in ({"u=1,w": 2}, {"u,w": None}, {"": 1}):
        with pytest.raises(daedal.UsageError, match="no name of an input|there is no variable 'u"):
            daedal.simulate(TEXT, inputs=inputs)
    with pytest.raises(ValueError, match="zero byte"):
        daedal.simulate(TEXT, method="dummy\0x")
    with pytest.raises(ValueError, match="zero byte"):
        daedal.simulate(TEXT)["x\0"]


TABLES = [([0, 1], [0, 1, 2]), ([0, 1, 2], [0]), ([[0, 1]], [[0, 1]]), ([0, 1], [0, float("nan")]), ([0, float("inf")], [0, 1]), ([], [])]


@pytest.mark.parametrize("table", TABLES)
def test_tables_of_inputs(table):
    with pytest.raises(daedal.UsageError, match="input"):
        daedal.simulate(TEXT, inputs={"u": table})


NO_NUMBERS = [["0", "1"], [0, 1j], np.array([0, 1], dtype="datetime64[s]"), [[0], [0, 1]], [object(), 1], [b"0", b"1"]]


@pytest.mark.parametrize("values", NO_NUMBERS, ids=repr)
def test_arrays_of_what_is_no_number(values):
    """numpy converts some of these, silently or with a warning."""
    for call in (lambda: daedal.simulate(TEXT, inputs={"u": ([0, 1], values)}), lambda: daedal.simulate(TEXT, inputs={"u": (values, [0, 1])}),
                 lambda: daedal.simulate(TEXT, t_eval=values), lambda: daedal.fit(TEXT, {"time": [0, 1], "x": values}, {"k": 1}),
                 lambda: daedal.sweep(TEXT, {"k": values})):
        with pytest.raises(TypeError, match="an array of numbers is needed"):
            call()


def test_columns_of_data():
    for data, word in (({"time": [0, 1, 2], "x": [1, 2]}, "'x'"), ({"time": [0, 1], "x": [1, 2, 3]}, "'x'"), ({"x": [1, 2]}, "'time'"),
                       ({"time": [0, 1], "x": [[1, 2]]}, "'x'")):
        with pytest.raises(daedal.UsageError, match=word):
            daedal.fit(TEXT, data, {"k": 1})
    for level in (-1, 2, float("nan"), "x", True):
        with pytest.raises((daedal.UsageError, TypeError), match="level"):
            daedal.fit(TEXT, {"time": [0, 1], "x": [1, 1]}, {"k": 1}, level=level)
    for guess in (float("nan"), (1, 2), "1", (1, float("nan"), 2)):
        with pytest.raises((daedal.UsageError, TypeError), match="k"):
            daedal.fit(TEXT, {"time": [0, 1], "x": [1, 1]}, {"k": guess})


# ---- runs and messages ----

@pytest.mark.parametrize("use", [lambda r: r["x"], lambda r: r.values, lambda r: r.derivatives, lambda r: r.derivative("x"), lambda r: r.step(),
                                 lambda r: r.advance(1), lambda r: r.interpolate(0), lambda r: r.save(), lambda r: r.clone()])
def test_a_run_before_its_start(use):
    with pytest.raises(daedal.UsageError, match=r"not started: call start\(\)"):
        use(daedal.Model(TEXT).plan().run())
    run = daedal.Model(TEXT).plan().run()
    run.execute()
    with pytest.raises(daedal.UsageError, match=r"not started: call start\(\)"):
        use(run)


def test_numbers_of_a_run():
    run = daedal.Model(TEXT).plan().run().start()
    for time in (float("nan"), float("inf"), "1", None, True, -1):
        with pytest.raises((daedal.UsageError, TypeError), match="time"):
            run.advance(time)
        if time != -1:
            with pytest.raises((daedal.UsageError, TypeError), match="time|x"):
                run["x"] = time if time is not True else "x"
    assert run.advance(0.5).time == 0.5


FAILS = "model M parameter Real k = 1; Real x(start = 1, fixed = true), y; equation der(x) = -k; y = sqrt(x); end M;"


def test_old_messages_stay_away():
    run = daedal.Model(FAILS).plan(stop_time=5).run().start()
    state = run.advance(0.5).save()
    for _ in range(30):  # more failures than the list of messages keeps
        with pytest.raises(daedal.IntegrationError) as caught:
            run.advance(2)
        assert len([d for d in caught.value.diagnostics if d.severity == "error"]) == 1
        with pytest.raises(daedal.UsageError, match="has failed"):
            run["x"]
        assert abs(run.restore(state)["x"] - 0.5) < 1e-6
    result = daedal.simulate(TEXT)
    for _ in range(3):
        with pytest.raises(daedal.UsageError) as caught:
            result.plot("nothing_like_it")
        assert len(caught.value.diagnostics) == 1
        with pytest.raises(daedal.FileError) as written:
            result.write("/nowhere/x.csv")
        assert len(written.value.diagnostics) == 1 and "nowhere" in str(written.value)


# ---- interrupts ----

INTERRUPTED = r'''
import os, signal, sys, threading, time
import daedal, numpy as np
osc = "model M parameter Real k = 1; input Real u(start = 0); Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = v; der(v) = u - 900*k*x; end M;"
def stop():
    os.kill(os.getpid(), signal.SIGINT)
def soon():
    time.sleep(0.3)
    stop()
calls = []
def after_many_calls(t):
    calls.append(t)
    if len(calls) == 500:
        stop()
    return 0.0
if "after_many" not in "CALL":
    threading.Thread(target=soon, daemon=True).start()
try:
    CALL
    print("finished")
except KeyboardInterrupt as stop:
    result = getattr(stop, "result", None)
    print("stopped", CHECK)
'''
CALLS = {"simulate": ("daedal.simulate(osc, stop_time=1e7)", "result['time'][-1] >= 0 and abs(result['x'][0] - 1) < 1e-9"),
         "gradient": ("daedal.simulate(osc, stop_time=1e6, gradient='x')", "result['x'][0] == 1"),
         "sensitivity": ("daedal.simulate(osc, stop_time=1e7, sensitivity='k')", "result['x'][0] == 1"),
         "linearize": ("daedal.linearize(osc, stop_time=1e7)", "True"),
         "steady": ("daedal.steady(osc, way='integration', inputs={'u': after_many_calls})", "True"),
         "fit": ("daedal.fit(osc, {'time': np.arange(1e4), 'x': np.ones(10000)}, {'k': 1})", "result['k'] == 1 and np.isnan(result.errors['k']) and 'k=1' in str(result)"),
         "sweep": ("daedal.sweep(osc, {'k': np.linspace(1, 2, 4)}, stop_time=1e7, outputs=['x'])", "result.points == 4")}


@pytest.mark.parametrize("name", CALLS)
def test_interrupts(name):
    call, check = CALLS[name]
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.replace("CALL", call).replace("CHECK", check)], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout.strip() == "stopped True", (done.stdout, done.stderr)


def test_an_error_of_progress_has_the_result():
    class Enough(Exception):
        pass

    def progress(part):
        raise Enough

    with pytest.raises(Enough) as caught:
        daedal.simulate(TEXT, progress=progress)
    assert caught.value.result["x"][0] == 1


def test_limits_of_a_model():
    """Models beyond the limits are refused. Copies and pickled models keep the limits."""
    large = "model M Real x[4000]; equation for i in 1:4000 loop x[i] = time; end for; end M;"
    for use in (daedal.Model, daedal.load, daedal.simulate):
        with pytest.raises(daedal.ModelError, match="--limits memory=2M allows more"):
            use(large, limits={"memory": 1e6})
    with pytest.raises(daedal.Error, match="there are limits of memory, work and text"):
        daedal.Model(TEXT, limits={"speed": 3})
    limits = {"text": 100}  # enough to read it
    for model in (daedal.Model(TEXT, limits=limits), pickle.loads(pickle.dumps(daedal.Model(TEXT, limits=limits)))):
        with pytest.raises(daedal.ModelError, match="more than 100 characters of text"):
            model.flatten()
    assert daedal.Model(TEXT, limits={"memory": 1e9, "text": 1e6}).flatten()


@pytest.mark.parametrize("call", [
    lambda model: model.simulate(stop_time=0.1)[0],
    lambda model: model.simulate(stop_time=0.1)[None],
    lambda model: model.simulate([1], stop_time=0.1),
    lambda model: model.simulate({1: 2}, stop_time=0.1),
    lambda model: model.simulate(stop_time=0.1, inputs=3.0),
    lambda model: model.simulate(stop_time=0.1, inputs={1: 2}),
])
def test_names_that_are_none(call):
    with pytest.raises(TypeError, match="name|mapping"):
        call(daedal.Model(TEXT))


@pytest.mark.parametrize("name", [b"\xff\xfe", b"\x80" * 50, b"model \xc3\x28 end", "m\udcff.mo"])
def test_bytes_that_are_no_text(name):
    """A name that is not UTF-8 is an error of daedal, not of Python's decoder."""
    with pytest.raises(daedal.Error):
        daedal.Model(name)
