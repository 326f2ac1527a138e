/* doctor: reports what daedal finds on this machine, what each item is for, and whether a small run gives the right result. */
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool has_solver(const char *name) {
  for (const char *const *known = daedal_solver_names(); *known; known++)
    if (!strcmp(*known, name)) return true;
  return false;
}

/* Is there a program of this name in PATH? */
static bool has_program(const char *name) {
  const char *at = getenv("PATH");
  for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
    char path[4096];
    snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(at, ":"), at, name);
    if (access(path, X_OK) == 0) return true;
  }
  return false;
}

/* The circle x' = y, y' = -x, x^2 + y^2 = 1 with a radial force. It has index 3 and returns to its start after 2 pi. */
static bool runs_well(void) {
  static const char text[] = "model Circle Real x(start = 1), y(start = 0, fixed = true), u(start = 0), "
                             "v(start = 1, fixed = true), f; equation der(x) = u; der(y) = v; der(u) = f*x; "
                             "der(v) = f*y; x^2 + y^2 = 1; end Circle;";
  daedal_model *model = daedal_load_text(text, sizeof text - 1, NULL, NULL, NULL);
  daedal_options options = daedal_default_options();
  options.stop_time = 8 * atan(1);
  options.tolerance = 1e-8;
  daedal_result *result = daedal_simulate(model, &options);
  uint32_t x = daedal_result_find(result, "x"), rows = daedal_result_rows(result);
  bool ok = daedal_status_of(result) == DAEDAL_OK && fabs(daedal_result_value(result, x, rows - 1) - 1) < 1e-5;
  daedal_free(result);
  daedal_free(model);
  return ok;
}

static bool say(const char *name, bool found, const char *purpose, const char *remedy) {
  printf("  %-9s %-14s %s%s%s\n", found ? "found" : "missing", name, purpose, found ? "" : "; ", found ? "" : remedy);
  return found;
}

int doctor_command(const Arguments *arguments) {
  (void)arguments;
  const char *temporary = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  print_version(stdout);
  printf("\n");
  say("SUNDIALS", has_solver("ida"), "solvers ida and cvode", "build with libsundials-dev");
  say("C compiler", has_program("cc"), "--compile, exported code", "apt-get install gcc");
  say("librsvg", picture_libraries_found(), "pictures as PNG and PDF", "apt-get install librsvg2-2");
  say("MPI", cluster_found() && has_program("mpirun"), "many runs on many machines",
      "build with libopenmpi-dev, run with openmpi-bin");
  say("Python", has_program("python3"), "the Python package", "apt-get install python3 python3-numpy");
  bool ok = say(temporary, access(temporary, W_OK | X_OK) == 0, "room for --compile", "set TMPDIR");
  bool runs = runs_well();
  printf("  %-9s a run of index 3 gives the right result\n", runs ? "passed" : "failed");
  return ok && runs ? 0 : DAEDAL_INTERNAL;
}
