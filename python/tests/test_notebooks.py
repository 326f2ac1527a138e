"""Features that people expect in a notebook: values between rows, chosen times, tables and pictures that show themselves, series and frames,
derivatives for JAX and PyTorch. Packages that are not installed are replaced by mocks of their protocol; installed ones are tested themselves."""
import doctest
import importlib
import math
import pickle
import sys
import types

import numpy as np
import pytest

import daedal

DECAY = """model Decay "a decay"
  parameter Real k(unit = "1/s") = 1 "rate";
  parameter Integer n = 3;
  parameter Boolean on = true;
  parameter String name = "text";
  input Real u(start = 0);
  Real x(start = 1, fixed = true), r[2];
equation
  der(x) = u - k*x;
  r = {x, n*x};
end Decay;
"""
JUMP = """model Jump
  discrete Real z(start = 0, fixed = true); Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.5 then z = 1; end when;
end Jump;
"""
PENDULUM = """model Pendulum
  parameter Real L = 1, g = 9.81;
  Real x(start = 1), y(start = 0, fixed = true), vx(start = 0), vy(start = 0, fixed = true), s(start = 0);
equation
  der(x) = vx; der(y) = vy; der(vx) = -s*x; der(vy) = -s*y - g; x^2 + y^2 = L^2;
end Pendulum;
"""


class Series:
    """The part of a pandas series that is needed."""

    def __init__(self, index, values):
        self.index, self._values = index, values

    def to_numpy(self):
        return np.asarray(self._values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._values, dtype=dtype)


class Frame:
    """The part of a pandas frame that is needed."""

    def __init__(self, index, columns):
        self.index, self._columns = index, columns

    def keys(self):
        return self._columns.keys()

    def __getitem__(self, name):
        return Series(self.index, self._columns[name])


@pytest.mark.parametrize("module", ["_model", "_result", "_differentiable", "_report", "_fit", "_sweep", "_linear"])
def test_examples_in_docstrings(module):
    loaded = importlib.import_module(f"daedal.{module}")
    done = doctest.testmod(loaded, extraglobs={"simulate": daedal.simulate, "np": np})
    assert done.failed == 0 and done.attempted >= 2


def test_values_between_rows():
    result = daedal.simulate(DECAY, u=0, intervals=4, tolerance=1e-9)
    times, x = result.time, result["x"]
    for time in (0.0, 0.1, 0.25, 0.99, 1.0):
        assert result.at(time, "x") == pytest.approx(np.interp(time, times, x), abs=1e-15)
    asked = np.linspace(0, 1, 7).reshape(7, 1)
    assert np.allclose(result.at(asked, "x"), np.interp(asked, times, x), atol=1e-15)
    assert result.at(asked, "r").shape == (7, 1, 2)
    assert set(result.at(0.5, ["x", "time"])) == {"x", "time"} and set(result.at(0.5)) == set(result.names)
    for outside in (-0.1, 1.1, math.nan):
        with pytest.raises(daedal.UsageError):
            result.at(outside, "x")
    again = pickle.loads(pickle.dumps(result))
    assert again.at(0.3, "x") == result.at(0.3, "x") == result["x"](0.3) == again["x"](0.3)


def test_a_slice_is_a_signal_of_its_rows():
    result = daedal.simulate(DECAY, u=0, intervals=8, tolerance=1e-9)
    x = result["x"]
    assert x[2:6](0.5) == x(0.5) and x[::2](0.5) == x(0.5) and result["r"][2:6](0.5).tolist() == result["r"](0.5).tolist()
    with pytest.raises(daedal.UsageError):
        x[2:6](0.1)
    for other in (x + 1, x[::-1], x[[0, 1]], x[x > 0.5], np.sort(x), x.copy() * x):
        assert isinstance(other, np.ndarray)
        with pytest.raises((TypeError, daedal.UsageError)):
            other(0.5)
    assert type(x[3]) is np.float64 and type(x.max()) is np.float64 and type(x + x) is np.ndarray


def test_values_at_an_event_are_those_behind_it():
    result = daedal.simulate(JUMP)
    event = result.time[np.flatnonzero(np.diff(result.time) == 0)[0]]
    assert result.at(event, "z") == 1 and result.at(event - 1e-9, "z") < 1e-6


def test_chosen_times():
    times = np.array([0.0, 0.3, 0.5, 2.0])
    result = daedal.simulate(DECAY, u=0, t_eval=times, tolerance=1e-10)
    assert result.time.tolist() == times.tolist()
    assert np.allclose(result["x"], np.exp(-times), atol=1e-8)
    for wrong in ([], [1, 0], [0, 0], [0, math.nan], 1.0, [[0, 1]]):
        with pytest.raises(daedal.UsageError):
            daedal.simulate(DECAY, u=0, t_eval=wrong)


def test_chosen_times_are_the_rows():
    """Events add no rows, unless they are requested; at an event the row has the values after it."""
    times = np.linspace(0, 2, 5)
    result = daedal.simulate(JUMP, t_eval=times)
    assert result.time.tolist() == times.tolist()
    assert daedal.simulate(JUMP, t_eval=times, no_event_rows=False).rows > len(times)
    assert daedal.simulate(JUMP, no_event_rows=True).rows < daedal.simulate(JUMP).rows


def test_parameters_have_values():
    found = daedal.Model(DECAY).parameters
    assert list(found) == ["k", "n", "on", "name"]
    assert found["k"] == daedal.Parameter("k", 1.0, "1/s", "rate", "Real")
    assert found["n"].value == 3 and isinstance(found["n"].value, int) and found["on"].value is True and found["name"].value is None
    assert "<td>rate</td>" in found._repr_html_() and "k=1.0" in repr(found)
    nowhere = daedal.Model("model M parameter Real a = 1; Real x(start = 2, fixed = true); equation x^2 = -a; end M;")
    assert math.isnan(nowhere.parameters["a"].value)


def test_structure_as_data():
    found = daedal.Model(PENDULUM).analyze()
    assert len(found.hidden_constraints) == 2 and "x*vx" in found.hidden_constraints[0]
    assert [one["times"] for one in found.differentiated] == [1, 1, 2]
    assert sorted(k for block in found.blocks for k in block["equations"]) == [1, 2, 3, 4, 5]
    assert str(found) == found.text and pickle.loads(pickle.dumps(found)) == found


def test_representations():
    model = daedal.Model(DECAY)
    shown = {"Model": model, "Analysis": model.analyze(), "Result": model.simulate(u=0), "Linear": daedal.linearize(model, by=["u"], outputs=["x"]),
             "Steady": daedal.steady(model), "Comparison": model.compare("dummy", "radau", stop_time=0.1),
             "Estimate": daedal.fit(model, {"time": [0, 0.5, 1], "x": [1, 0.6, 0.37]}, {"k": 1.0})}
    for name, one in shown.items():
        page = one._repr_html_()
        assert "<pre>" in page or "<table>" in page, name
        assert page.count("<table>") == page.count("</table>") and page.count("<div>") == page.count("</div>"), name
    odd = daedal.Model("model M parameter Real 'a<b>' = 1; Real x; equation x = 'a<b>'; end M;")
    assert "<b>'" not in odd._repr_html_() and "a&lt;b&gt;" in odd._repr_html_()


def test_pictures(tmp_path):
    picture = daedal.simulate(DECAY, u=0).plot("x")
    assert isinstance(picture, str) and picture._repr_svg_().startswith("<svg")
    picture.save(tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text() == picture
    with pytest.raises(ValueError):
        picture.save(tmp_path / "p.png")


def test_comparison():
    found = daedal.Model(PENDULUM).compare(["dummy", "ggl"], "radau", stop_time=0.5)
    assert [(run["method"], run["solver"], run["status"]) for run in found.runs] == [("dummy", "radau", "ok"), ("ggl", "radau", "ok")]
    assert "ggl" in str(found) and found.plot()._repr_svg_().startswith("<svg")


def test_series_and_frames():
    times = np.linspace(0, 1, 11)
    by_table = daedal.simulate(DECAY, inputs={"u": (times, times**2)})
    by_series = daedal.simulate(DECAY, inputs={"u": Series(times, times**2)})
    by_frame = daedal.simulate(DECAY, inputs=Frame(times, {"u": times**2}))
    by_column = daedal.simulate(DECAY, inputs=Frame(range(11), {"u": times**2, "time": times}))
    assert by_table["x"].tolist() == by_series["x"].tolist() == by_frame["x"].tolist() == by_column["x"].tolist()
    measured = np.exp(-2*times)
    as_index = daedal.fit(DECAY, Frame(times, {"x": measured}), {"k": 1.0}, inputs={"u": 0})
    as_column = daedal.fit(DECAY, Frame(range(11), {"x": measured, "time": times}), {"k": 1.0}, inputs={"u": 0})
    assert as_index["k"] == as_column["k"] == pytest.approx(2, abs=1e-4)


def test_netlists_and_energy_from_text():
    netlist = daedal.Model("a divider\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.tran 1u 1m\n.end\n", netlist=True)
    assert netlist.simulate()["v(out)"][-1] == pytest.approx(5)
    assert pickle.loads(pickle.dumps(netlist)).simulate()["v(out)"][-1] == pytest.approx(5)
    text = "model P Real x(start = 1, fixed = true); initial equation der(x) = 0; lagrangian der(x)^2/2 - x^2/2; end P;"
    plain, energy = daedal.Model(text), daedal.Model(text, energy=True)
    assert set(plain.variables) < set(energy.variables)
    assert set(pickle.loads(pickle.dumps(energy)).variables) == set(energy.variables)
    with pytest.raises(TypeError):
        daedal.Model(text, energy=1)


def test_xarray(monkeypatch):
    made = {}
    fake = types.SimpleNamespace(Dataset=lambda signals, coords: made.update(signals=signals, coords=coords) or made)
    monkeypatch.setitem(sys.modules, "xarray", fake)
    daedal.simulate(DECAY, u=0).to_xarray()
    assert made["coords"]["time"][2] == {"units": "s"} and made["signals"]["k"][2] == {"units": "1/s"}


# ---- derivatives ----

def make_function(**options):
    return daedal.Differentiable(PENDULUM, ["L", "g", "x.start"], ["x", "y"], stop_time=0.5, tolerance=1e-10, **options)


@pytest.mark.parametrize("times", [None, [0.1, 0.25, 0.5]])
def test_derivatives_are_those_of_differences(times):
    f = daedal.Differentiable("model M parameter Real k = 1, a = 2; Real x(start = 1, fixed = true); equation der(x) = -k*x + a*sin(time); end M;",
                              ["k", "a", "x.start"], ["x"], t_eval=times, tolerance=1e-11)
    point, step = np.array([1.3, 0.7, 2.0]), 1e-5
    value, jacobian = f.value_and_jacobian(point)
    assert value.shape == f.shape and jacobian.shape == (*f.shape, 3)
    for k in range(3):
        moved = np.eye(3)[k]*step
        assert np.allclose((f(point + moved) - f(point - moved))/(2*step), jacobian[..., k], atol=1e-6)
    weights = np.arange(1.0, 1 + value.size).reshape(value.shape)
    assert np.allclose(f.vjp(point, weights), np.tensordot(weights, jacobian, axes=value.ndim))
    with pytest.raises(daedal.UsageError):
        f(point[:2])


class Tensor:
    """The part of a PyTorch tensor that daedal.torch uses."""

    def __init__(self, data, requires_grad=False):
        self.data, self.requires_grad = np.asarray(data, dtype=float), requires_grad
        self.shape, self.dtype, self.device, self.ndim = self.data.shape, self.data.dtype, "cpu", self.data.ndim

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.data


class FakeFunction:
    @classmethod
    def apply(cls, argument):
        context = types.SimpleNamespace()
        value = cls.forward(context, argument)
        value.grad = lambda cotangent: cls.backward(context, cotangent)
        return value


DECAYS = ("model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;", ["k", "x.start"], ["x"])


@pytest.mark.parametrize("times", [None, [0.5, 1.0]])
def test_torch_protocol(monkeypatch, times):
    fake = types.ModuleType("torch")
    fake.autograd = types.SimpleNamespace(Function=FakeFunction)
    fake.as_tensor = lambda data, dtype, device: Tensor(data)
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.delitem(sys.modules, "daedal.torch", raising=False)
    module = importlib.import_module("daedal.torch")
    del sys.modules["daedal.torch"]  # it uses the mock
    f = daedal.Differentiable(*DECAYS, t_eval=times, tolerance=1e-10)
    points = np.array([[1.0, 2.0], [0.5, 1.0], [2.0, 3.0]])
    value = module.function(f)(Tensor(points, requires_grad=True))
    assert value.shape == (3, *f.shape)
    assert np.allclose(value.data, [f(point) for point in points], atol=1e-7)
    cotangent = np.arange(1.0, 1 + value.data.size).reshape(value.shape)
    assert np.allclose(value.grad(Tensor(cotangent)).data, [f.vjp(point, c) for point, c in zip(points, cotangent)])
    assert np.allclose(module.function(f)(Tensor(points[0])).data, f(points[0]))


@pytest.mark.parametrize("times", [None, [0.5, 1.0]])
def test_jax_protocol(monkeypatch, times):
    class CustomJvp:
        def __init__(self, function):
            self.function = function

        def __call__(self, argument):
            return self.function(argument)

        def defjvp(self, rule):
            self.rule = rule

    def pure_callback(function, shapes, argument):
        found = function(argument)
        for one, shape in zip(found if isinstance(found, tuple) else (found,), shapes if isinstance(shapes, tuple) else (shapes,)):
            assert (one.shape, one.dtype) == (shape.shape, shape.dtype)
        return found

    fake, fake_numpy = types.ModuleType("jax"), types.ModuleType("jax.numpy")
    fake_numpy.asarray = np.asarray
    fake.numpy, fake.custom_jvp, fake.pure_callback = fake_numpy, CustomJvp, pure_callback
    fake.ShapeDtypeStruct = lambda shape, dtype: types.SimpleNamespace(shape=shape, dtype=dtype)
    monkeypatch.setitem(sys.modules, "jax", fake)
    monkeypatch.setitem(sys.modules, "jax.numpy", fake_numpy)
    monkeypatch.delitem(sys.modules, "daedal.jax", raising=False)
    module = importlib.import_module("daedal.jax")
    del sys.modules["daedal.jax"]  # it uses the mock
    f = daedal.Differentiable(*DECAYS, t_eval=times, tolerance=1e-10)
    g = module.function(f)
    points, tangent = np.array([[1.0, 2.0], [0.5, 1.0]]), np.array([[0.3, -1.0], [1.0, 0.0]])
    value, derivative = g.rule((points,), (tangent,))
    assert np.allclose(g(points), [f(point) for point in points]) and np.allclose(value, g(points), atol=1e-7)
    assert np.allclose(derivative, [f.jacobian(point) @ t for point, t in zip(points, tangent)])


def test_real_torch():
    torch = pytest.importorskip("torch")
    module = importlib.import_module("daedal.torch")
    f = module.function(daedal.Differentiable(*DECAYS, tolerance=1e-10))
    assert torch.autograd.gradcheck(f, torch.tensor([[1.0, 2.0]], dtype=torch.float64, requires_grad=True), atol=1e-4)
    model = daedal.Differentiable(*DECAYS, t_eval=[0.5, 1.0], tolerance=1e-10)
    points = torch.tensor([[1.0, 2.0], [0.5, 1.0], [2.0, 3.0]], dtype=torch.float64, requires_grad=True)
    values = module.function(model)(points)
    assert values.shape == (3, 2, 1) and not module.function(model)(points.detach()).requires_grad
    (values**2).sum().backward()
    expected = [model.vjp(point, 2 * model(point)) for point in points.detach().numpy()]
    assert np.allclose(points.grad.numpy(), expected, atol=1e-6)


def test_real_jax():
    jax = pytest.importorskip("jax")
    module = importlib.import_module("daedal.jax")
    f = daedal.Differentiable(*DECAYS, tolerance=1e-10)
    found = jax.grad(lambda p: module.function(f)(p).sum())(np.array([1.0, 2.0]))
    assert np.allclose(found, f.jacobian([1.0, 2.0])[0], atol=1e-4)
