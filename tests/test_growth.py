"""Programs compiled with an older daedal.h, whose structs have fewer members at their end, or with a newer one, whose structs have
more, run with this library. Nothing is written beyond the caller's struct, and members that the library does not know are zero."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["SOURCE_DIR"], os.environ["BUILD_DIR"]
FROZEN = {"daedal_place", "daedal_note", "daedal_value", "daedal_axis", "daedal_distribution", "daedal_guess", "daedal_allocator"}

PROGRAM = r"""
#include <daedal.h>
#include <stdio.h>

/* A struct between two numbers that nobody may touch. */
#define GUARDED(type, name, call)                                                           \
  struct { double before; type value; double after; } name = {1.25, call, 2.5};             \
  if (name.before != 1.25 || name.after != 2.5) return puts(#type " overflows"), 1;

static uint32_t steps;
static bool count(void *context, const daedal_progress *progress) {
  (void)context;
  steps += progress->time >= 0;
  return false;
}

int main(void) {
  const char *text = "model M parameter Real k = 1; input Real u; Real x(start = 1, fixed = true); equation der(x) = u - k*x; end M;";
  daedal_load_options reading;
  memset(&reading, 0, sizeof reading);
  reading.size = sizeof reading;
  daedal_model *model = daedal_load(NULL, text, strlen(text), &reading);
  GUARDED(daedal_options, options, daedal_default_options());
  double times[] = {0, 1}, values[] = {1, 1};
  daedal_input inputs[2];
  memset(inputs, 0, sizeof inputs);
  inputs[0].name = "u", inputs[0].rows = 2, inputs[0].times = times, inputs[0].values = values;
  options.value.inputs = inputs;
  options.value.input_count = 1;
  options.value.on_step = count;
  GUARDED(daedal_variable, variable, daedal_variable_get(model, 0));
  GUARDED(daedal_counts, counts, daedal_model_counts(model));
  GUARDED(daedal_analysis, analysis, daedal_analyze(model));
  daedal_result *result = daedal_simulate(model, &options.value);
  GUARDED(daedal_statistics, statistics, daedal_result_statistics(result));
  GUARDED(daedal_diagnostic, diagnostic, daedal_diagnostic_get(result, 0));
  GUARDED(daedal_pivot, pivot, daedal_result_pivot(result, 0));
  GUARDED(daedal_event, event, daedal_result_event(result, 0));
  GUARDED(daedal_derivative, derivative, daedal_result_derivative(result, 0));
  GUARDED(daedal_residuals, residuals, daedal_result_residuals(result));
  GUARDED(daedal_code, code, daedal_code_get(0));
  daedal_plot plot;
  memset(&plot, 0, sizeof plot);
  plot.size = sizeof plot;
  const char *picture = daedal_draw(result, &plot);
  daedal_linearization *form = daedal_linearize(model, NULL, NULL, (const char *const[]){"x", NULL});
  GUARDED(daedal_linear, linear, daedal_linear_get(form));
  double last = daedal_result_value(result, daedal_result_find(result, "x"), daedal_result_rows(result) - 1);
  printf("%s %s %u %u %d %d %.3f %d\n", daedal_version(), variable.value.name, counts.value.equations, linear.value.states,
         analysis.value.structural_index, daedal_status_of(result), last, picture && steps > 0);
#ifdef NEWER
  if (variable.value.grown || counts.value.grown || analysis.value.grown || statistics.value.grown || linear.value.grown) return puts("not zero"), 1;
#endif
  daedal_free(form);
  daedal_free(result);
  daedal_free(model);
  return 0;
}
"""


def structs(header):
    """The bodies of all structs that may grow, by name."""
    return {name: body for body, name in re.findall(r"typedef struct \w+ \{(.*?)\n\} (\w+);", header, re.DOTALL) if name not in FROZEN}


def newer(header):
    return re.sub(r"(typedef struct \w+ \{.*?)(\n\} (\w+);)",
                  lambda m: m[0] if m[3] in FROZEN else m[1] + "\n  double grown, more[3];" + m[2], header, flags=re.DOTALL)


def older(header):
    """The header without the last members of the structs that have grown since the interface was fixed."""
    for line in ("  size_t input_size;", "  options.input_size = sizeof(daedal_input);", "  uint32_t aliases;", "  double seconds_parse, ", "  uint32_t array_length;",
                 "  uint32_t dimensions;", "  uint32_t width, height;"):
        header, count = re.subn(f"^{re.escape(line)}.*\n", "", header, flags=re.MULTILINE)
        assert count == 1, (line, count)
    return header


def run(header, flags, folder):
    (folder / "daedal.h").write_text(header)
    (folder / "program.c").write_text(PROGRAM)
    sanitizer = ["-fsanitize=address,undefined"] if os.environ["BUILD_KIND"] == "asan" else []
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", *sanitizer, *flags, f"-I{folder}", folder / "program.c", f"-L{BUILD}", "-ldaedal",
                    f"-Wl,-rpath,{BUILD}", "-o", folder / "program"], check=True)
    done = subprocess.run([folder / "program"], capture_output=True, text=True)
    return done.returncode, done.stdout


def main():
    header = pathlib.Path(SOURCE, "include/daedal.h").read_text()
    failed = []
    with tempfile.TemporaryDirectory() as name:
        code, expected = run(header, [], pathlib.Path(name))
        if code or not expected.strip().endswith(" 1.000 1"):
            failed.append(f"this version: {code} {expected}")
        for title, changed, flags in (("older", older(header), []), ("newer", newer(header), ["-DNEWER"])):
            before, after = structs(header), structs(changed)
            differing = [k for k in before if before[k] != after.get(k)]
            if len(differing) < (5 if title == "older" else len(before)):
                failed.append(f"{title}: only {differing} differ")
            result = run(changed, flags, pathlib.Path(name))
            if result != (0, expected):
                failed.append(f"{title}: {result} for {expected}")
    for line in failed:
        print(line)
    print(f"{3 - len(failed)} passed, {len(failed)} failed")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
