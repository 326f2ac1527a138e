"""Each allocation of a run is refused, including those of other libraries, with every solver: the command reports that it is out of
memory, and does not crash. All allocations with DAEDAL_TEST_TIER=long, otherwise a sample. SUNDIALS makes its context with two small
blocks that it does not check: a crash is allowed only there, with the solvers of SUNDIALS (docs/embedding.md)."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DAEDAL = os.environ["DAEDAL"]
SOLVERS = {"erk": 0, "radau": 0, "bdf": 0, "ida": 2, "cvode": 2}  # the number of crashes within SUNDIALS
SAMPLE = 40
IS_LONG = os.environ.get("DAEDAL_TEST_TIER") == "long"
MODEL = """model M Real x(start = 0.6, fixed = true), y(start = -0.8), u(start = 0, fixed = true), v, s;
equation der(x) = u; der(y) = v; der(u) = -s*x; der(v) = -s*y - 9.81; x^2 + y^2 = 1; end M;
"""
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static _Atomic long count;
static char early[1 << 16]; /* for dlsym itself */
static size_t used;
static int refuses(void) {
  static long at = -1;
  if (at < 0) at = getenv("REFUSE") ? atol(getenv("REFUSE")) : 0;
  if (++count != at) return 0;
  errno = ENOMEM;
  return 1;
}
void *malloc(size_t size) {
  static void *(*real)(size_t);
  if (!real) real = dlsym(RTLD_NEXT, "malloc");
  return refuses() ? NULL : real(size);
}
void *calloc(size_t number, size_t size) {
  static void *(*real)(size_t, size_t);
  static int asks;
  if (!real && asks) return used += (number * size + 15) & ~(size_t)15, early + used - ((number * size + 15) & ~(size_t)15);
  if (!real) asks = 1, real = dlsym(RTLD_NEXT, "calloc");
  return refuses() ? NULL : real(number, size);
}
void *realloc(void *block, size_t size) {
  static void *(*real)(void *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "realloc");
  return refuses() ? NULL : real(block, size);
}
__attribute__((destructor)) static void tell(void) {
  char text[40];
  if (!getenv("REFUSE")) (void)!write(2, text, (size_t)snprintf(text, sizeof text, "COUNT %ld\n", (long)count));
}
"""


def run(folder, solver, **environment):
    words = [DAEDAL, "simulate", "m.mo", "--solver", solver, "--stop-time", "0.1", "--intervals", "3", "--output-file", "o.csv", "-q"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": str(folder / "shim.so"), **environment})


def main():
    passed, failed = 0, 0
    if os.environ["BUILD_KIND"] != "release":  # the runtime of a sanitizer has its own malloc
        print("0 passed, 0 failed")
        return 0
    version = subprocess.run([DAEDAL, "--version"], capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "m.mo").write_text(MODEL)
        (folder / "shim.c").write_text(SHIM)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"], cwd=folder, check=True)
        for k, (solver, allowed) in enumerate(SOLVERS.items()):
            if solver not in version:
                continue
            count = int(re.search(r"COUNT (\d+)", run(folder, solver).stderr)[1])
            stride = 1 if IS_LONG else count // SAMPLE + 1
            crashes, silent = [], []
            for at in range(1 + k, count + 1, stride):
                done = run(folder, solver, REFUSE=str(at))
                if done.returncode not in (0, 1):
                    crashes.append((at, done.returncode))
                elif done.returncode == 1 and "memory" not in done.stderr:  # before main the Fortran runtime reports it
                    silent.append((at, done.stderr))
            good = len(crashes) <= allowed and not silent
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(solver, count, crashes, silent[:3])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
