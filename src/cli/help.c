/* help: all texts about single options come from their table. */
#include "cli/help.h"
#include "cli/options.h"

enum { COLUMN = 29 };

void help_short(FILE *file) {
  fputs("usage: daedal COMMAND MODEL [OPTIONS]\n\n"
        "  daedal analyze pendulum.mo                  what index, which constraints are hidden\n"
        "  daedal simulate pendulum.mo                 integrate, write Pendulum.csv\n"
        "  daedal simulate pendulum.mo --plot p.svg    and draw it\n\n"
        "commands:",
        file);
  for (const Command *command = commands; command->name; command++) fprintf(file, " %s", command->name);
  fputs("\n'daedal --help' says more, 'daedal COMMAND --help' explains one command\n", file);
}

static void names_print(FILE *file, const char *const *names) {
  fputs(":", file);
  for (const char *const *name = names; *name; name++) fprintf(file, "%s %s", name == names ? "" : ",", *name);
}

static void option_print(FILE *file, const Option *option) {
  char left[64];
  snprintf(left, sizeof left, "%s%s%s%s%s", option->short_name ? option->short_name : "",
           option->short_name ? ", " : "", option->name, option->argument ? " " : "",
           option->argument ? option->argument : "");
  fprintf(file, "  %-*s %s", COLUMN, left, option->help);
  if (option->kind != OPTION_MNA && option->kind != OPTION_AXES && option->kind != OPTION_SAMPLING &&
      option_names(option))
    names_print(file, option_names(option));
  fputc('\n', file);
}

void help_all(FILE *file) {
  fputs("daedal: a compiler and solver for differential-algebraic equations\n\n"
        "usage: daedal COMMAND MODEL [OPTIONS]\n"
        "       daedal --help | --version\n\ncommands:\n",
        file);
  for (const Command *command = commands; command->name; command++)
    fprintf(file, "  %-10s %s\n", command->name, command->summary);
  fputs("\noptions ('daedal COMMAND --help' lists those of one command):\n", file);
  for (const Option *option = options; option->name; option++) option_print(file, option);
  fputs("\nexit status: 0 done, 1 internal error, 2 usage, 3 the model is wrong, 4 unbalanced or singular, or the\n"
        "method does not apply, 5 no consistent initial values, 6 integration failed, 7 files, 8 results differ,\n"
        "130 and 143 interrupted\n",
        file);
}

#if defined __clang__
#define COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

void print_version(FILE *file) {
  fprintf(file, "daedal %s\n", daedal_version());
  fputs("  solvers", file);
  names_print(file, daedal_solver_names());
  fputs("\n  methods", file);
  names_print(file, daedal_method_names());
  fputs("\n  compiler: " COMPILER "\n", file);
}

void help_command(FILE *file, const Command *command) {
  fprintf(file, "usage: daedal %s%s%s [OPTIONS]\n\n%s\noptions:\n", command->name, *command->subject ? " " : "",
          command->subject, command->details);
  for (const Option *option = options; option->name; option++)
    if (option->commands & command->bit) option_print(file, option);
  fputs("\nexamples, in the folder of the examples:\n", file);
  for (const char *const *example = command->examples; *example; example++) fprintf(file, "  %s\n", *example);
}
