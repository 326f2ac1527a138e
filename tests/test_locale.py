"""A program around the library may have set a locale with a decimal comma: what it reads and writes stays the same."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
BUILD = os.environ["BUILD_DIR"]
MODELS = 6

PROGRAM = r"""
#include <daedal.h>
#include <locale.h>
#include <stdio.h>

int main(int count, char **words) { /* model, overrides, start values, result, directory */
  setlocale(LC_ALL, "");
  if (count != 6) return 1;
  fprintf(stderr, "%.1f\n", 0.5);
  daedal_model *model = daedal_load_file(words[1], NULL, NULL);
  puts(daedal_flatten(model));
  daedal_options options = daedal_default_options();
  options.overrides = words[2];
  daedal_result *result = daedal_simulate(model, &options);
  daedal_result_write(result, words[4]);
  puts(daedal_result_start_values(result));
  puts(daedal_result_plot(result, NULL));
  daedal_write_text(model, words[3], daedal_result_start_values(result));
  for (uint32_t s = 0; s < daedal_result_signals(result); s++)
    printf("%s %.0f\n", daedal_result_name(result, s), 1e15 * daedal_result_value(result, s, daedal_result_rows(result) - 1));
  daedal_result_free(result);
  options.overrides = NULL;
  options.start_values = words[3];
  options.start_from = words[4];
  result = daedal_export_c(model, words[5], &options);
  puts(daedal_result_initial_json(result));
  puts(daedal_result_model(result));
  int status = daedal_result_status(result);
  daedal_result_free(result);
  daedal_model_free(model);
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
    lines += ["  Real w;", "equation"]
    for i in range(count):
        lines.append(f"  der(x{i}) = {number(chance)} - {abs(float(number(chance))) % 1}*x{i} + sin(p{i}*time);")
    lines += [f'  w = {number(chance)}*x0 + (if String({number(chance)}) == "{0.1}" then {number(chance)} else {number(chance)});',
              "end M;", ""]
    overrides = ",".join(f"p{i}={number(chance)},x{i}={number(chance)}" for i in range(count))
    return "\n".join(lines), overrides


def outcome(program, folder, locale, overrides):
    """Everything that a run in this locale writes, by name; and how the C library writes one half."""
    target = folder / locale
    target.mkdir(exist_ok=True)
    run = subprocess.run([program, folder / "m.mo", overrides, target / "list", target / "r.csv", target / "c"],
                         env=dict(os.environ, LC_ALL=locale, LOCPATH=str(folder.parent)), capture_output=True, text=True)
    assert run.returncode == 0, (locale, run.returncode, run.stderr, (folder / "m.mo").read_text(), overrides)
    files = {path.relative_to(target): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    return {"standard output": run.stdout, **files}, run.stderr.strip()


def main():
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
            plain, point = outcome(program, folder, "C", overrides)
            other, comma = outcome(program, folder, "de_DE.UTF-8", overrides)
            assert (point, comma) == ("0.5", "0,5"), (point, comma)
            assert plain.keys() == other.keys() and len(plain) == 7, (plain.keys(), other.keys())
            for key in plain:
                lines = zip(plain[key].splitlines(), other[key].splitlines())
                assert plain[key] == other[key], (key, *[pair for pair in lines if pair[0] != pair[1]][:5])
    print(f"{MODELS} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
