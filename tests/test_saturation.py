"""A closed volume of moist gas that is cooled until its vapour condenses. There the content of liquid has a kink, and the rates of pressure and temperature jump, because the equations
differentiate mass and energy. Mass, vapour and energy are known at each time, so the reference
solves scalar equations by bisection. Generated gases, with and without states that are preferred, and with wrong sizes (nominal)."""
import math
import random
import unittest

from runs import by_turns, seeds, simulate

STOP = 100
SOLVERS = ("auto", "radau", "bdf", "ida", "erk", "cvode")


class Gas:
    def __init__(self, rng):
        self.gas, self.vapour = rng.uniform(150, 400), rng.uniform(400, 600)  # gas constants
        self.heat_gas, self.heat_vapour, self.heat_liquid = rng.uniform(800, 1300), rng.uniform(1600, 2000), rng.uniform(3500, 4500)
        self.latent = rng.uniform(1.5e6, 2.6e6)
        self.at_300, self.slope = rng.uniform(2000, 4500), rng.uniform(0.04, 0.07)  # pressure of saturation
        self.volume, self.density = 10**rng.uniform(-2, 1), rng.uniform(0.8, 1.6)
        self.begin = rng.uniform(298, 310)
        pressure = self.density * self.gas * self.begin
        self.content = rng.uniform(0.5, 0.95) * 0.6 * self.saturation(self.begin) / pressure
        self.cooled = rng.uniform(8, 25)  # the gas cools by about this many kelvin
        self.mass = self.volume * self.density
        self.energy = self.energy_at(self.begin)
        self.cooling = self.mass * self.heat_gas * self.cooled / STOP

    def saturation(self, temperature):
        return self.at_300 * math.exp(self.slope * (temperature - 300))

    def liquid_at(self, temperature):
        """The liquid content, where the pressure and the saturation content determine each other."""
        def pressure(liquid):
            return self.density * temperature * (self.gas * (1 - self.content) + self.vapour * (self.content - liquid))
        low, high = 0.0, self.content
        for _ in range(200):
            liquid = (low + high) / 2
            wanted = max(0.0, self.content - 0.622 * self.saturation(temperature) / pressure(liquid))
            low, high = (liquid, high) if wanted > liquid else (low, liquid)
        return low, pressure(low)

    def energy_at(self, temperature):
        liquid, pressure = self.liquid_at(temperature)
        steam = self.content - liquid
        enthalpy = (self.heat_gas * (1 - self.content) * temperature + (self.heat_vapour * temperature + self.latent) * steam
                    + self.heat_liquid * temperature * liquid)
        return self.mass * (enthalpy - pressure / self.density)

    def temperature(self, time):
        low, high, energy = self.begin - 40, self.begin + 1, self.energy - self.cooling * time
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if self.energy_at(middle) < energy else (low, middle)
        return low

    def text(self, rng):
        prefers = rng.random() < 0.5

        def real(name, nominal, preferred=False, **attributes):
            if rng.random() < 0.5: attributes["nominal"] = nominal
            if preferred and prefers: attributes["stateSelect"] = "StateSelect.prefer"
            return f"  Real {name}({', '.join(f'{key} = {value}' for key, value in attributes.items())});\n"

        declarations = (real("p", 1e5, True, start=1e5) + real("T", 300, True, start=self.begin) + real("X", 0.01, True) + real("h", 1e5) + real("u", 1e6)
                        + real("R", 300) + real("d", 1) + real("steam", 0.01) + real("liquid", 0.01) + real("saturated", 0.01) + real("ps", 3000)
                        + real("m", self.mass, start=self.mass, fixed="true") + real("U", 1e6, start=self.energy, fixed="true")
                        + real("mX", self.mass * self.content, start=self.mass * self.content, fixed="true"))
        return f"""model M
{declarations}equation
  m = {self.volume!r}*d;
  mX = X*m;
  U = u*m;
  der(m) = 0;
  der(mX) = 0;
  der(U) = -{self.cooling!r};
  ps = {self.at_300!r}*exp({self.slope!r}*(T - 300));
  saturated = 0.622*ps/p;
  liquid = max(0, X - saturated);
  steam = X - liquid;
  R = {self.gas!r}*(1 - X) + {self.vapour!r}*steam;
  h = {self.heat_gas!r}*(1 - X)*T + ({self.heat_vapour!r}*T + {self.latent!r})*steam + {self.heat_liquid!r}*T*liquid;
  u = h - R*T;
  d = p/(R*T);
end M;
"""


class Saturation(unittest.TestCase):
    def test_volumes(self):
        for seed in seeds(200, quick=24):
            rng = random.Random(seed)
            gas = Gas(rng)
            text, exact = gas.text(rng), gas.temperature(STOP)
            for solver in by_turns(SOLVERS, seed):
                run = simulate(text, solver=solver, stop_time=STOP, tolerance=1e-6)
                self.assertEqual(run.status, 0, (seed, solver, run.words))
                self.assertAlmostEqual(run.end("T"), exact, delta=1e-4 * gas.cooled + 1e-5 * exact, msg=f"{seed} {solver}")
                self.assertAlmostEqual(run.end("liquid"), gas.liquid_at(exact)[0], delta=1e-3 * gas.content, msg=f"{seed} {solver}")


if __name__ == "__main__":
    unittest.main()
