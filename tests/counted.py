"""Counted checks: a script continues after a check that fails, and prints the counts at its end."""

passed, failures = 0, []


def check(condition, *what):
    global passed
    if condition:
        passed += 1
    else:
        failures.append(" ".join(map(str, what)))
        print("FAILED:", *what, flush=True)


def finish():
    """Prints the counts, and returns the exit status."""
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0
