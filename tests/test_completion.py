"""The scripts that complete the command line know all commands, options and names; `doctor` finds a build that runs."""
import os
import re
import shutil
import subprocess

DAEDAL = os.environ["DAEDAL"]


def daedal(*words):
    return subprocess.run([DAEDAL, *words], capture_output=True, text=True, check=True).stdout


def complete(script, *words):
    """What bash offers for the last word."""
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


def syntax():
    """Shells that are here take their scripts."""
    for shell in ("bash", "zsh", "fish"):
        script = daedal("completion", shell)
        assert "simulate" in script and "tolerance" in script
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script, text=True, check=True)


def doctor():
    said = daedal("doctor")
    assert re.search(r"^  passed +a run", said, re.M) and "C compiler" in said, said


if __name__ == "__main__":
    for test in (bash, syntax, doctor):
        test()
