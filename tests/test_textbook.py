"""The textbook models of examples/modelica: each runs, and agrees with a closed form, a conserved quantity or the hand-written
equations of the same system, which a Runge-Kutta method of this test integrates.

TABLE lists file, model and checks. A check is signal, time (of the 500 output points) and expected value, with its own tolerance if 1e-5 times the size of the value is not suitable."""
import csv
import math
import os
import subprocess
import tempfile
import unittest
from math import cos, erf, exp, log, pi, sin, sqrt

from elimination import solve

DAEDAL = os.environ["DAEDAL"]
FOLDER = os.path.join(os.environ["SOURCE_DIR"], "examples", "modelica")
WORK = tempfile.mkdtemp()
G = 9.81


def integrate(right, state, end, start=0.0, steps=2000):
    """The state at the end, by the classical Runge-Kutta method."""
    h, y = (end - start) / steps, list(state)
    add = lambda y, k, f: [a + f * b for a, b in zip(y, k)]
    for i in range(steps):
        t = start + i * h
        k1 = right(t, y)
        k2 = right(t + h / 2, add(y, k1, h / 2))
        k3 = right(t + h / 2, add(y, k2, h / 2))
        k4 = right(t + h, add(y, k3, h))
        y = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
    return y


def rc_filter(t):
    capacities = (1e-6, 1e-6, 2e-6, 1e-6)

    def right(t, v):
        ends = [sin(2 * pi * 100 * t)] + v + [v[-1]]
        return [(ends[k] - 2 * ends[k + 1] + ends[k + 2]) / 500 / c for k, c in enumerate(capacities)]

    return integrate(right, [0] * 4, t)[3]


def rlc(t):
    tau, damping = t - 0.1, 4.0
    w = sqrt(200 - damping**2)
    return 12 * (1 - exp(-damping * tau) * (cos(w * tau) + damping / w * sin(w * tau)))


def wheatstone(t):
    """Nodes: battery, probe and middle of the other arm."""
    probe = 100 * (1 + 3.9e-3 * (20 + 10 * t))
    g = lambda *r: sum(1 / x for x in r)
    matrix = [[g(0.5, 100, 100), -g(100), -g(100)],
              [-g(100), g(100, probe, 1000), -g(1000)],
              [-g(100), -g(1000), g(100, 100, 1000)]]
    _, probe_node, middle = solve(matrix, [5 / 0.5, 0, 0])
    return probe_node - middle


def resonance(t, sign):
    return 5 * (cos(t / sqrt(1.2e-3 * 1e-6)) + sign * cos(t / sqrt(0.8e-3 * 1e-6)))


def phase_current(t, k):
    phi, z, theta = 2 * pi / 3 * (k - 1), math.hypot(10, 314 * 0.05), math.atan2(314 * 0.05, 10)
    return 325 / z * (sin(314 * t - phi - theta) + sin(phi + theta) * exp(-10 * t / 0.05))


def pack_voltage(t):
    charges = ((1, 7200, 0.005), (0.9, 7200, 0.005), (0.8, 3600, 0.01))
    return sum(3 + 1.2 * (soc - 2 * t / q) - 2 * r for soc, q, r in charges)


def phasors():
    coil, capacitor, load = 3 + 4j, -5j, 5
    joined = 1 / (1 / capacitor + 1 / load)
    return 10 * joined / (coil + joined), 10 / (coil + joined)


def dc_motor(t):
    return integrate(lambda t, y: [(24 - 0.5 * y[0] - y[1]) / 0.05, (y[0] - 0.2 * y[1]) / 0.1], [0, 0], t)


def crank_energy(phi, w):
    return (0.5 * (0.3 * w)**2 + 0.02 * w**2 + 2 * (piston_slope(phi) * w)**2) / 2


def piston_place(phi):
    return 0.3 * cos(phi) + sqrt(0.8**2 - (0.3 * sin(phi))**2)


def piston_slope(phi):
    return -0.3 * sin(phi) - 0.09 * sin(phi) * cos(phi) / sqrt(0.8**2 - (0.3 * sin(phi))**2)


def double_pendulum(t):
    m1, m2, l1, l2 = 2, 1, 1, 0.7

    def right(_, y):
        a, b, u, w = y
        d = a - b
        acceleration = solve([[(m1 + m2) * l1, m2 * l2 * cos(d)], [m2 * l1 * cos(d), m2 * l2]],
                             [-m2 * l2 * w**2 * sin(d) - (m1 + m2) * G * sin(a), m2 * l1 * u**2 * sin(d) - m2 * G * sin(b)])
        return [u, w] + acceleration

    return integrate(right, [2, 2.5, 0, 0], t)


def heat_exchanger():
    """Temperatures of the hot cells, then of the cold ones, at rest."""
    n, g, hot, cold = 30, 60 / 30, 40, 30
    matrix, right = [[0.0] * (2 * n) for _ in range(2 * n)], [0.0] * (2 * n)
    for i in range(n):
        for own, other, flow, inlet in ((i, 2 * n - 1 - i, hot, 370), (n + i, n - 1 - i, cold, 290)):
            matrix[own][own] = flow + g
            matrix[own][other] = -g
            if i:
                matrix[own][own - 1] = -flow
            else:
                right[own] = flow * inlet
    return solve(matrix, right)


def pi_loop(t):
    def right(_, y):
        error = 1 - y[1]
        return [error / 0.5, 2 * 4 * (y[0] + error) - y[1]]

    return integrate(right, [0, 0], t, 0.5)[1]


def pid_loop(t):
    def right(_, y):
        error = 1 - y[3]
        slope = (error - y[1]) / 0.05
        return [20 * error, slope, 30 * error + y[0] + 8 * slope - 5, y[2]]

    return integrate(right, [0, 0, 0, 0], t)[3]


def sampled_control(t):
    y, x, k = 0.0, 0.0, 0
    while True:
        error = 1 - y
        x += 0.05 / 0.4 * error
        u = 0.8 * (x + error)
        span = min(t - k * 0.05, 0.05)
        y = u + (y - u) * exp(-span / 0.5)
        k += 1
        if k * 0.05 > t:
            return y


def reactor(t):
    def right(_, c):
        rates = []
        for tank, (volume, inlet) in enumerate(((1, (100, 0, 0)), (2, c[:3]))):
            a, b, product = c[3 * tank:3 * tank + 3]
            flow = [0.01 * (i - o) / volume for i, o in zip(inlet, (a, b, product))]
            rates += [flow[0] - 0.02 * a, flow[1] + 0.02 * a - 0.01 * b, flow[2] + 0.01 * b]
        return rates

    return integrate(right, [0] * 6, t)


def cruise(t):
    early, late = 5000 / 550, 10000 / 550
    if t <= 5:
        return early * (1 - exp(-0.55 * t))
    return late + (cruise(5) - late) * exp(-0.55 * (t - 5))


def replaced(t):
    return integrate(lambda _, y: [3 * (2 - y[0]) + y[1] - y[0], 3 * (2 - y[0])], [1, 0], t)[0]


def parallelogram(t):
    return integrate(lambda _, y: [y[1], -G / 0.5 * cos(y[0])], [-0.5, 0], t)[0]


def bell_integral(t, mean, width):
    return width * sqrt(pi) / 2 * (erf((t - mean) / width) + erf(mean / width))


def line_current(t):
    def right(_, y):
        i, v = y[:10], y[10:]
        return ([((v[k - 1] if k else 0) - v[k]) / 1e-3 for k in range(10)] +
                [(i[k] - (i[k + 1] if k < 9 else 0)) / 1e-9 for k in range(10)])

    return integrate(right, [1] + [0] * 19, t)[4]


def state_space(t):
    def right(_, y):
        return [y[1], 25 - 25 * y[0] - 2 * y[1], -3 * y[2] + 3 * (y[0] + y[1])]

    y = integrate(right, [0, 0, 0], t)
    return y[0], y[2] + 0.5 * y[0]


def epidemic(t):
    return integrate(lambda _, y: [-0.5 * y[0] * y[1] / 1000, 0.5 * y[0] * y[1] / 1000 - 0.1 * y[1]], [990, 10], t)


def chemical_equilibrium():
    low, high = 0.0, 1.5
    for _ in range(80):
        c = (low + high) / 2
        low, high = (c, high) if 0.4 * (3 - 2 * c)**2 * (2 - c) > 0.2 * c else (low, c)
    return low


V_LOAD, I_COIL = phasors()
MOTOR = dc_motor(0.2)
AC = 10 / (2 + 1j * pi)
GEAR = 24 / (20 + 0.5 * 16 + 0.1 * 144)
PENDULUM = double_pendulum(0.9)
HEAT = heat_exchanger()
REACTOR = reactor(240)
MODE = 20 * 4 * sin(pi / 42)**2
TANKS = 1.5e-5 * 998 * G
FEATHER = G * 0.2
SPACE = state_space(2)
SICK = epidemic(60)
AMOUNT = chemical_equilibrium()
BREATH = 3 - 2 * 2.5**(-4 / 3)

# file, model, checks: signal, time, expected value (or a function of the other signals), tolerance
TABLE = [
    ("rc_charge", "RcCharge.Circuit", [("capacitor.v", 3, 10 * (1 - exp(-3))), ("resistor.i", 0.6, 5e-3 * exp(-0.6), 1e-8)]),
    ("rlc_oscillator", "RlcOscillator", [("C1.v", 0.55, rlc(0.55)), ("C1.v", 1.1, rlc(1.1))]),
    ("rc_filter", "RcFilter.Filter", [("v_out", 0.01, rc_filter(0.01), 1e-6), ("v_out", 0.02, rc_filter(0.02), 1e-6)]),
    ("rectifier", "Rectifier.Bridge", [("load.v", 0.0048, 20 * sin(0.48 * pi)), ("load.v", 0.0152, 20 * sin(0.48 * pi)), ("load.v", 0.0328, 20 * sin(0.28 * pi), 1e-3)]),
    ("op_amp", "OpAmp.Integrator", [("v_out", 0.5, -0.25 * sin(10)), ("v_out", 1, -0.25 * sin(20))]),
    ("wheatstone", "Wheatstone.Bridge", [("v_meter", 0, wheatstone(0)), ("v_meter", 4, wheatstone(4))]),
    ("transformer", "Transformer.Resonance",
     [("C1.v", 1e-3, resonance(1e-3, 1), 1e-4), ("C2.v", 1e-3, resonance(1e-3, -1), 1e-4), ("energy", 1e-3, 5e-5, 1e-9)]),
    ("three_phase", "ThreePhase.Network",
     [("load.resistor.i[1]", 0.1, phase_current(0.1, 1)), ("load.inductor.i[3]", 0.02, phase_current(0.02, 3)),
      ("star2.neutral.v", 0.1, 0, 1e-6)]),
    ("battery_pack", "BatteryPack.Pack", [("v", 600, pack_voltage(600)), ("cell[3].soc", 300, 0.8 - 600 / 3600)]),
    ("complex_ac", "ComplexAc.Network",
     [("load.p.v.re", 1, V_LOAD.real), ("load.p.v.im", 1, V_LOAD.imag), ("coil.p.i.im", 0, I_COIL.imag)]),
    ("ac_reference", "AcReference.Network",
     [("R1.i[1]", 0.01, AC.real), ("L1.i[2]", 0.02, AC.imag), ("source.p.i[1]", 0.02, -AC.real - 2.5),
      ("ground.p.reference.gamma", 0.02, 2 * pi)]),
    ("dc_motor", "DcMotor.Drive", [("motor.rotor.w", 0.2, MOTOR[1]), ("motor.resistor.i", 0.2, MOTOR[0]),
                                   ("motor.flange.tau", 0.2, -0.2 * MOTOR[1])]),
    ("gear_train", "GearTrain.Train", [("shaft3.phi", 2, 2 * GEAR), ("shaft1.w", 2, 24 * GEAR)]),
    ("clutch", "Clutch.Launch", [("engine.w", 0.5, 62.5), ("vehicle.w", 2, 25), ("vehicle.phi", 2, 37.5, 1e-3), ("momentum", 2, 20)]),
    ("dry_friction", "DryFriction.Slide", [("box.v", 0.8, 3 - 0.3 * G * 0.8), ("box.s", 2, 9 / (0.6 * G)), ("box.v", 2, 0, 1e-6)]),
    ("two_mass", "TwoMass.Oscillator",
     [("momentum", 5, 2), ("energy", 5, 2), ("spring.s_rel", 4, 1 - 0.2 * sin(40))]),
    ("planar_slider_crank", "PlanarSliderCrank.SliderCrank",
     [("energy", 2, crank_energy(0.5, 4)), ("slider.s", 1, lambda v: piston_place(v["crankJoint.phi"])),
      ("energy", 1, lambda v: crank_energy(v["crankJoint.phi"], v["crankJoint.w"]))]),
    ("double_pendulum", "DoublePendulum.Chain",
     [("link[1].phi", 0.9, PENDULUM[0]), ("link[2].phi", 0.9, PENDULUM[1]), ("energy", 3, -3 * G * cos(2) - 0.7 * G * cos(2.5))]),
    ("support_flange", "SupportFlange.Test", [("rotor1.w", 2, 3), ("rotor2.w", 2, 3), ("frame.w", 2, -0.6)]),
    ("two_tanks", "TwoTanks.System",
     [("left.h", 10, 2 + exp(-10 * TANKS)), ("right.h", 20, 2 - 2 * exp(-20 * TANKS)), ("left.V", 20, lambda v: 6 - v["right.V"])]),
    ("tank_cascade", "TankCascade.Cascade",
     [("tank[1].h", 100, (sqrt(2) - 0.002 * sqrt(2 * G) * 100)**2), ("V", 100, 1.75)]),
    ("heat_rod", "HeatRod.Rod",
     [("slice[10].T", 5, 300 + 50 * sin(10 * pi / 21) * exp(-5 * MODE)), ("slice[20].T", 1, 300 + 50 * sin(20 * pi / 21) * exp(-MODE))]),
    ("heat_exchanger", "HeatExchanger.Counterflow",
     [("hot.T_out", 500, HEAT[29]), ("cold.T_out", 500, HEAT[59]), ("balance", 500, 0, 1e-2)]),
    ("house", "House.TwoRooms",
     [("kitchen.air.T", 20000, 270 + 500 / 14.4 + (18.15 - 500 / 14.4) * exp(-14.4 / 5)),
      ("ambient.port.Q_flow", 10000, lambda v: 14.4 * (v["kitchen.air.T"] + v["bath.air.T"] - 540))]),
    ("thermostat", "Thermostat.Controlled", [("period", 6000, 2000 * (log(16 / 14) + log(26 / 24)), 1e-2)]),
    ("pi_loop", "PiLoop.Loop", [("plant.y", 1.2, pi_loop(1.2)), ("plant.y", 3, pi_loop(3))]),
    ("pid_loop", "PidLoop.Loop", [("s", 1, pid_loop(1)), ("s", 4, pid_loop(4))]),
    ("sampled_control", "SampledControl.Loop", [("plant.y", 0.51, sampled_control(0.51)), ("plant.y", 1.02, sampled_control(1.02))]),
    ("predator_prey", "PredatorPrey.Ecosystem", [("invariant", 30, 1 - 0.4 * log(10) + 2 - 1.1 * log(5))]),
    ("stirred_reactor", "StirredReactor.Plant",
     [("tank2.c[1]", 240, REACTOR[3]), ("tank2.c[2]", 240, REACTOR[4]), ("total", 240, sum(REACTOR[3:]))]),
    ("stream_mixing", "StreamMixing.Mixing", [("h_mix", 1, 1e6 / 4), ("H_flow", 2, 1.4e6)]),
    ("stream_reversal", "StreamReversal.Breathing", [("volume.h", 1.5, BREATH), ("volume.m", 1.5, 1.75)]),
    ("signal_bus", "SignalBus.Cruise", [("vehicle.v", 4, cruise(4)), ("bus.speed", 10, cruise(10)), ("bus.wish", 8, 20)]),
    ("projectile", "Projectile.Compare",
     [("stone.h", 1, 8 - G / 2), ("moon.stone.h", 1, 8 - 0.81), ("feather.h", 1, 2 - FEATHER * (1 - 0.2 * (1 - exp(-5))))]),
    ("replaceable_controller", "ReplaceableController.Compare",
     [("proportional.plant.y", 10, 1.6), ("integral.plant.y", 10, 2, 1e-4), ("other.plant.y", 1, replaced(1))]),
    ("spatial_frames", "SpatialFrames.SphericalPendulum",
     [("energy", 2, 2 * ((1.6 * cos(0.6))**2 / 2 - G * 0.8 * sin(0.6))), ("momentum", 2, 4 * (0.8 * cos(0.6))**2)]),
    ("planar_frames", "PlanarFrames.Parallelogram",
     [("leftJoint.phi", 1, parallelogram(1)), ("rightJoint.phi", 2, parallelogram(2)), ("energy", 2, -G * sin(0.5))]),
    ("quadrature", "Quadrature.Compare",
     [("early.byRule", 2, bell_integral(2, 1, 0.3)), ("early.byState", 2, bell_integral(2, 1, 0.3)),
      ("late.byRule", 1, bell_integral(1, 1.5, 0.5))]),
    ("traffic_light", "TrafficLight.Crossing", [("road.waiting", 18, 3.6), ("controller.light", 24, 3), ("road.waiting", 60, 4.6)]),
    ("bouncing_ball", "BouncingBall.Court",
     [("ball[1].h", 1.1, 0.75), ("ball[2].h", 1.1, 0.6), ("ball[3].h", 1.1, 0.1356), ("ball[3].bounces", 1.1, 2), ("watch.top", 1.1, 0.75)]),
    ("transmission_line", "TransmissionLine.Pulse", [("line.cell[5].coil.i", 5e-6, line_current(5e-6)), ("energy", 5e-5, 5e-4, 1e-8)]),
    ("state_space", "StateSpace.Coupled", [("filter.y[1]", 2, SPACE[1]), ("mean.y", 2, sum(SPACE) / 2)]),
    ("epidemic", "Epidemic.City", [("infected.level", 60, SICK[1]), ("total", 100, 1000)]),
    ("chemistry", "Chemistry.Vessel", [("C.c", 40, AMOUNT), ("atomsA", 8, 3), ("atomsB", 8, 2)]),
    ("shift_register", "ShiftRegister.Register", [("bit[3].q", 6.5, 1), ("bit[4].q", 6.5, 0), ("count", 6.5, 1)]),
]


def rows_of(path):
    """The points of a result. If several points have one time, the later points come first, so that the first point found is after events."""
    with open(path, newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    return rows[::-1]


class Textbook(unittest.TestCase):
    def test_every_model_has_a_row(self):
        files = {name[:-3] for name in os.listdir(FOLDER) if name.endswith(".mo")}
        self.assertEqual(files, {row[0] for row in TABLE})

    def simulate(self, name, model):
        output = os.path.join(WORK, name + ".csv")
        command = [DAEDAL, "simulate", os.path.join(FOLDER, name + ".mo"), "--model", model, "--tolerance", "1e-8",
                   "--intervals", "500", "--output-file", output, "-q"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return rows_of(output)

    def check(self, rows, signal, time, expected, tolerance=None):
        row = next(row for row in rows if abs(row["time"] - time) <= 1e-9 * max(1e-3, abs(time)))
        if callable(expected):
            expected = expected(row)
        limit = tolerance or 1e-5 * max(abs(expected), 1e-3)
        self.assertLessEqual(abs(row[signal] - expected), limit, f"{signal} at {time}: {row[signal]}, expected {expected}")


def method(name, model, checks):
    def run(self):
        rows = self.simulate(name, model)
        for check in checks:
            with self.subTest(signal=check[0], time=check[1]):
                self.check(rows, *check)

    return run


for NAME, MODEL, CHECKS in TABLE:
    setattr(Textbook, "test_" + NAME, method(NAME, MODEL, CHECKS))

if __name__ == "__main__":
    unittest.main()
