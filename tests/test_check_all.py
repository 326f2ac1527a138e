"""check --library DIR --all: every model of a library by itself; each message once; JSON; libraries of MODELICAPATH are used but
not checked."""
import json
import os
import subprocess
import sys
import tempfile

DAEDAL = os.environ.get("DAEDAL", "build/daedal")
LIBRARY = """package Parts
  connector Pin Real v; flow Real i; end Pin;
  partial model TwoPin Pin p, n; Real u = p.v - n.v; equation p.i + n.i = 0; end TwoPin;
  model Good extends TwoPin; parameter Real R = 1; equation u = R*p.i; end Good;
  model Short extends TwoPin; end Short;
  package Wrong
    model Base Real x = unknown; end Base;
    model A Base b; end A;
    block B extends Base; end B;
  end Wrong;
  model Uses Helper.Source s; Real y = s.x; end Uses;
end Parts;
"""
HELPER = "package Helper model Source Real x = time; end Source; model Bad Real z = nothing; end Bad; end Helper;"


def main():
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ("given/Parts.mo", LIBRARY), ("path/Helper.mo", HELPER):
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        # A resistor with open pins has as many equations as unknowns, but its currents are zero twice: one of these equations
        # follows from the others.
        for threads in "1", "4":
            done = subprocess.run([os.path.abspath(DAEDAL), "check", "--library", "given", "--all", "--threads", threads, "--json", "report.json"],
                                  cwd=folder, env=dict(os.environ, MODELICAPATH=os.path.join(folder, "path")), capture_output=True, text=True)
            with open(os.path.join(folder, "report.json")) as file:
                report = json.load(file)
            status = {name: entry["status"] for name, entry in report["reports"].items()}
            assert status == {"Parts.Good": "ok", "Parts.Short": "unbalanced", "Parts.Wrong.Base": "input", "Parts.Wrong.A": "input",
                              "Parts.Wrong.B": "input", "Parts.Uses": "ok"}, status
            assert (report["models"], report["wrong"]) == (6, 4)
            assert done.returncode == 4, done.returncode
            assert done.stderr.count("`unknown` is not declared") == 1, done.stderr
            assert "1 too few" in done.stderr and "(Parts.Short)" in done.stderr
            assert "2 of 6 models are fine" in done.stderr and "Helper.Bad" not in done.stderr
            passed += 1
    print(f"{passed} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
