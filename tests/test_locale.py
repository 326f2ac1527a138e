"""A program around the library may have set a locale with a decimal comma: the texts that the library reads and writes stay the same."""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
BUILD = os.environ["BUILD_DIR"]
MODELS = 6 if os.environ.get("DAEDAL_TEST_TIER") == "long" else 3

PROGRAM = r"""
#include <daedal.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static void say(const char *text) { puts(text ? text : "nothing"); }

/* Reports, with numbers in options and in words. */
static void report(daedal_model *model, const char *fmu) {
  daedal_options options = daedal_default_options();
  const char *const by[] = {"p0", NULL}, *const seen[] = {"x0", NULL};
  const daedal_override low = {"low", 1000.5, NULL};
  options.sensitivity = by;
  daedal_result *result = daedal_simulate(model, &options);
  daedal_plot plot;
  memset(&plot, 0, sizeof plot);
  plot.size = sizeof plot;
  daedal_value deviation = {"p0", 0.15};
  plot.deviations = &deviation;
  plot.deviation_count = 1;
  plot.variables = seen;
  say(daedal_draw(result, &plot));
  plot.width = 60;
  plot.height = 10;
  say(daedal_draw(result, &plot));
  say(daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_TEXT));
  daedal_free(result);
  options.sensitivity = NULL;
  options.overrides = &low;
  options.override_count = 1;
  result = daedal_simulate(model, &options);
  for (uint32_t k = 0; k < daedal_diagnostic_count(result); k++) say(daedal_diagnostic_get(result, k).message);
  daedal_free(result);
  options.override_count = 0;
  daedal_linearization *form = daedal_linearize(model, &options, NULL, seen);
  say(daedal_report(form, DAEDAL_REPORT_LINEAR, DAEDAL_TEXT));
  say(daedal_report(form, DAEDAL_REPORT_LINEAR, DAEDAL_JSON));
  daedal_free(form);
  result = daedal_steady(model, &options, NULL);
  say(daedal_report(result, DAEDAL_REPORT_STEADY, DAEDAL_TEXT));
  daedal_free(result);
  say(daedal_report(model, DAEDAL_REPORT_ANALYSIS, DAEDAL_TEXT));
  for (const char *const *pass = daedal_pass_names(); *pass; pass++) say(daedal_dump(model, *pass));
  options.stop_time = 1.5;
  options.tolerance = 1.5e-6;
  if (*fmu) daedal_free(daedal_export_fmu(model, fmu, 3, NULL, &options));
}

int main(int count, char **words) { /* model, overrides, start values, result, directory, FMU */
  setlocale(LC_ALL, "");
  if (count != 7) return 1;
  fprintf(stderr, "%.1f\n", 0.5);
  daedal_model *model = daedal_load_file(words[1], NULL, NULL);
  puts(daedal_report(model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT));
  daedal_options options = daedal_default_options();
  daedal_override overrides[16] = {0};
  options.overrides = overrides;
  for (char *word = strtok(words[2], "=,"); word; word = strtok(NULL, "=,")) {
    overrides[options.override_count].name = word;
    overrides[options.override_count++].text = strtok(NULL, "=,");
  }
  daedal_result *result = daedal_simulate(model, &options);
  daedal_save(result, words[4]);
  puts(daedal_report(result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT));
  puts(daedal_draw(result, NULL));
  const char *starts = daedal_report(result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT);
  daedal_write(model, words[3], starts, strlen(starts));
  for (uint32_t s = 0; s < daedal_result_signals(result); s++)
    printf("%s %.0f\n", daedal_result_name(result, s), 1e15 * daedal_result_value(result, s, daedal_result_rows(result) - 1));
  daedal_free(result);
  options.override_count = 0;
  options.start_values = words[3];
  options.start_from = words[4];
  result = daedal_export_c(model, words[5], &options);
  puts(daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON));
  puts(daedal_report(result, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT));
  int status = daedal_status_of(result);
  daedal_free(result);
  report(model, words[6]);
  daedal_free(model);
  return status;
}
"""


def number(chance):
    return repr(chance.choice([chance.uniform(-5, 5), chance.uniform(0, 1) * 10.0**chance.randint(-9, 9), 0.1, 1.5e-5, 2.25]))


def model(chance):
    """Literals in attributes, parameters, equations, functions and texts."""
    count = chance.randint(1, 4)
    lines = ["model M"]
    for i in range(count):
        lines += [f"  parameter Real p{i} = {number(chance)};",
                  f"  Real x{i}(start = {number(chance)}, fixed = true, nominal = {abs(float(number(chance)))});"]
    lines += ["  Real w;", "  Real low(start = 0.5, fixed = true, min = -0.25, max = 0.75);", "equation", "  der(low) = -0.1*low;"]
    for i in range(count):
        lines.append(f"  der(x{i}) = {number(chance)} - {abs(float(number(chance))) % 1}*x{i} + sin(p{i}*time);")
    lines += [f'  w = {number(chance)}*x0 + (if String({number(chance)}) == "{0.1}" then {number(chance)} else {number(chance)});',
              "end M;", ""]
    overrides = ",".join(f"p{i}={number(chance)},x{i}={number(chance)}" for i in range(count))
    return "\n".join(lines), overrides


def numbers_in_locales():
    """Places of the library where the locale affects how numbers are written or read."""
    away = {"src/base/format.c", "src/base/number.c"}
    calls = re.compile(r"\bv\w*printf\(|\bstrto(d|f|ld)\(|\batof\(|\bs?n?printf\([^;]*%[-+ #0-9.*]*[aefgAEFG]|\bsscanf\([^;]*%l?[aefg]")
    allowed = re.compile(r'arena_vprintf\(|any locale \*/|^ *"')  # strings are C code of separate programs
    for path in sorted(SOURCE.glob("src/**/*.c")):
        name = str(path.relative_to(SOURCE))
        if name in away or name.startswith(("src/cli/", "src/export/runtime/")):  # separate programs
            continue
        for line in path.read_text().splitlines():
            if calls.search(line) and not allowed.search(line):
                yield f"{name}: {line.strip()}"


def outcome(program, folder, locale, overrides, has_fmu):
    """Everything that a run writes in this locale, by name; and how the C library writes one half."""
    target = folder / locale
    target.mkdir(exist_ok=True)
    run = subprocess.run([program, folder / "m.mo", overrides, target / "list", target / "r.csv", target / "c",
                          target / "m.fmu" if has_fmu else ""],
                         env=dict(os.environ, LC_ALL=locale, LOCPATH=str(folder.parent)), capture_output=True, text=True)
    assert run.returncode == 0, (locale, run.returncode, run.stderr, (folder / "m.mo").read_text(), overrides)
    if has_fmu:
        with zipfile.ZipFile(target / "m.fmu") as archive:
            description = archive.read("modelDescription.xml").decode()
        assert 'stopTime="1.5"' in description, description
        (target / "m.fmu").unlink()
        (target / "description").write_text(re.sub('(generationDateAndTime|instantiationToken)="[^"]*"', "", description))
    files = {path.relative_to(target): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    return {"standard output": run.stdout, **files}, run.stderr.strip()


def main():
    found = list(numbers_in_locales())
    assert not found, found
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        made = subprocess.run(["sh", "-c", f"localedef -i de_DE -f UTF-8 {root}/de_DE.UTF-8"], capture_output=True)
        if not (root / "de_DE.UTF-8").is_dir():
            print("skipped: no locale with a decimal comma can be made:", made.stderr.decode())
            return 0
        (root / "program.c").write_text(PROGRAM)
        flags = ["-fsanitize=address,undefined"] if os.environ["BUILD_KIND"] == "asan" else []
        program = root / "program"
        subprocess.run(["cc", "-std=c99", *flags, f"-I{SOURCE}/include", root / "program.c", f"-L{BUILD}", "-ldaedal",
                        f"-Wl,-rpath,{BUILD}", "-o", program], check=True)
        chance = random.Random(5)
        for seed in range(MODELS):
            folder = root / f"model{seed}"
            folder.mkdir()
            text, overrides = model(chance)
            (folder / "m.mo").write_text(text)
            plain, point = outcome(program, folder, "C", overrides, seed == 0)
            other, comma = outcome(program, folder, "de_DE.UTF-8", overrides, seed == 0)
            assert (point, comma) == ("0.5", "0,5"), (point, comma)
            assert plain.keys() == other.keys() and len(plain) == 7 + (seed == 0), (plain.keys(), other.keys())
            for key in plain:
                lines = zip(plain[key].splitlines(), other[key].splitlines())
                assert plain[key] == other[key], (key, *[pair for pair in lines if pair[0] != pair[1]][:5])
    print(f"{MODELS} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
