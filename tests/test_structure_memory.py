"""A run whose equations change their structure repeatedly uses memory for its present structure, not for those it has left."""
import os
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]

MODEL = """model Clutch
  parameter Real period = 0.01;
  Real x(start = 1, fixed = true), v, f;
  Boolean is_free;
equation
  is_free = sin(6.283185307179586*time/period) > 0;
  der(x) = v;
  if is_free then
    der(v) = -x + f;
    f = -0.1*v;
  else
    v = 0.3;
    f = der(v) + x;
  end if;
initial equation
  v = 0;
end Clutch;
"""


def peak_memory(path, stop):
    """The largest memory of a run in kilobytes. The caller counts its 200 changes per second."""
    process = os.posix_spawn(DAEDAL, [DAEDAL, "simulate", path, "--stop-time", str(stop), "--no-event-rows", "-q",
                                      "--output-file", path + ".csv"], os.environ)
    _, status, usage = os.wait4(process, 0)
    assert status == 0, status
    return usage.ru_maxrss


class StructureMemory(unittest.TestCase):
    def test_memory_does_not_grow_with_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "clutch.mo")
            with open(path, "w") as file:
                file.write(MODEL)
            few, many = peak_memory(path, 1), peak_memory(path, 20)
        self.assertLess((many - few)/(200*19), 1.0, "kilobytes for each change of structure")


if __name__ == "__main__":
    unittest.main()
