"""The scripts that complete the command line know all commands, options and names; `doctor` finds a build that runs."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])


def daedal(*words):
    return subprocess.run([DAEDAL, *words], capture_output=True, text=True, check=True).stdout


def complete(script, *words):
    """The words that bash offers for the last word."""
    test = f"{script}\nCOMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _daedal; echo \"${{COMPREPLY[@]}}\""
    return subprocess.run(["bash", "-c", test], capture_output=True, text=True, check=True).stdout.split()


def bash():
    script = daedal("completion", "bash")
    commands = complete(script, "daedal", "")
    assert {"simulate", "analyze", "report", "--version"} <= set(commands), commands
    for command in commands:
        if command.startswith("-"):
            continue
        options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", daedal(command, "--help"), re.M))
        assert set(complete(script, "daedal", command, "--")) == options, command
    assert complete(script, "daedal", "simulate", "--method", "base") == []
    assert complete(script, "daedal", "simulate", "--method", "baum") == ["baumgarte"]


def names():
    """Names of variables and parameters; in lists, the part after the last comma. Other options on the line say which model is meant."""
    script = f"PATH={shlex.quote(os.path.dirname(os.path.abspath(DAEDAL)))}:$PATH\n" + daedal("completion", "bash")
    pendulum = str(SOURCE / "examples/pendulum.mo")
    assert complete(script, "daedal", "simulate", pendulum, "--override", "") == ["L", "g"]
    assert complete(script, "daedal", "simulate", pendulum, "--variables", "l") == ["lambda"]
    assert complete(script, "daedal", "simulate", pendulum, "--variables", "x,v") == ["x,vx", "x,vy"]
    assert complete(script, "daedal", "sweep", pendulum, "--vary", "") == ["L", "g"]
    clipper = str(SOURCE / "examples/circuits/diode_clipper.cir")
    assert complete(script, "daedal", "simulate", clipper, "--plot-variables", "v(o") == ["v(out)"]
    motor = str(SOURCE / "examples/modelica/dc_motor.mo")
    assert complete(script, "daedal", "simulate", motor, "--model", "Drive", "--override", "") == daedal("completion", "parameters", motor).split()
    assert complete(script, "daedal", "simulate", "--override", "") == []
    wrong = subprocess.run([DAEDAL, "completion", "variables", "nothing.mo"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout) == (7, ""), wrong


def syntax():
    """Installed shells accept their scripts."""
    for shell in ("bash", "zsh", "fish"):
        script = daedal("completion", shell)
        assert "simulate" in script and "tolerance" in script
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script, text=True, check=True)


def doctor():
    said = daedal("doctor")
    assert re.search(r"^  passed +a run", said, re.M) and "C compiler" in said, said


if __name__ == "__main__":
    for test in (bash, names, syntax, doctor):
        test()
