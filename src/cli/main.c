/* main: finds the command, parses its arguments and runs it. The rest of the program is reached through two tables: `commands`
 * (here) and `options` (options.c). */
#include "cli/command.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sandbox.h"
#include "cli/suggest.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Command commands[] = {
    {"check",
     IN_CHECK,
     "[MODEL]",
     "read a model, check types and balance",
     "Reads the model, resolves names and types and counts equations and unknowns. With --library and\n"
     "without a model, parses every file below the directories; with --all checks every model in them.\n",
     {"daedal check pendulum.mo", "daedal check modelica/dc_motor.mo --units",
      "daedal check circuits/nand.cir --strict"},
     check_command},
    {"flatten",
     IN_FLATTEN,
     "MODEL",
     "print the flat model as Base Modelica",
     "Prints the flat model on standard output, as Base Modelica that daedal reads again.\n",
     {"daedal flatten modelica/dc_motor.mo", "daedal flatten circuits/diode_clipper.cir > clipper.mo",
      "daedal flatten energy/pendulum.mo --energy"},
     flatten_command},
    {"analyze",
     IN_ANALYZE,
     "MODEL",
     "structure: index, hidden constraints, possible initial values",
     "Prints the structural index, the degrees of freedom, which equations are differentiated\n"
     "how often, the hidden constraints and which variables may get initial values.\n",
     {"daedal analyze pendulum.mo", "daedal analyze slider_crank.mo --svg incidence.svg",
      "daedal analyze circuits/index2_loop.cir --json"},
     analyze_command},
    {"reduce",
     IN_REDUCE,
     "MODEL",
     "the system that a method makes of the model",
     "Prints the reduced system on standard output, as Base Modelica with comments that say where each\n"
     "equation and variable comes from. It can be simulated as it is.\n",
     {"daedal reduce pendulum.mo", "daedal reduce pendulum.mo --method baumgarte --baumgarte 10,10",
      "daedal reduce pendulum.mo --method minimal > reduced.mo"},
     reduce_command},
    {"init",
     IN_INIT,
     "MODEL",
     "consistent initial values and how each was found",
     "Prints values at the start that satisfy every equation, written or hidden, and how each\n"
     "was found.\n",
     {"daedal init pendulum.mo", "daedal init pendulum.mo --override L=2 --write start.txt",
      "daedal init circuits/operating_point.cir"},
     init_command},
    {"simulate",
     IN_SIMULATE,
     "MODEL",
     "integrate and write the trajectory",
     "Computes consistent initial values and integrates. Without --output-file the trajectory goes to\n"
     "MODELNAME.csv in the current directory. Settings come from the options, then from the model's\n"
     "experiment annotation, then: from 0 to 1, 500 intervals, tolerance 1e-6.\n",
     {"daedal simulate pendulum.mo", "daedal simulate pendulum.mo --override L=1.1 --stop-time 10 -o long.csv",
      "daedal simulate circuits/diode_clipper.cir --plot clipper.svg"},
     simulate_command},
    {"compare",
     IN_COMPARE,
     "MODEL",
     "several methods and solvers on one model, side by side",
     "Runs every method that applies, or those named, with every solver named, and prints a table: sizes, work,\n"
     "largest residuals of the constraints of each level and whether they drift, drift of invariants, the\n"
     "difference from a run that is a hundred times more accurate, and how much the system amplifies a small\n"
     "difference at the start.\n",
     {"daedal compare pendulum.mo --stop-time 2",
      "daedal compare pendulum.mo --stop-time 2 --methods dummy,ggl --solvers radau,bdf",
      "daedal compare rc_circuit.mo --plot work.svg"},
     compare_command},
    {"linearize",
     IN_LINEARIZE,
     "MODEL",
     "matrices A, B, C, D, modes and frequency response",
     "Linearizes the reduced equations at the initial values, or at a time of the run: the matrices of the minimal\n"
     "state-space form, its eigenvalues with frequency and damping, and with --plot a Bode plot.\n",
     {"daedal linearize pendulum.mo", "daedal linearize modelica/two_mass.mo --at 0.5",
      "daedal linearize reactor.mo -o reactor.mat --json"},
     linearize_command},
    {"steady",
     IN_STEADY,
     "MODEL",
     "a steady state and whether it is stable",
     "Looks for values with all derivatives zero, from the initial values: by Newton's method, by continuation, by\n"
     "integration. Prints these values, and the eigenvalues there.\n",
     {"daedal steady reactor.mo", "daedal steady reactor.mo --by homotopy", "daedal steady reactor.mo --json"},
     steady_command},
    {"sweep",
     IN_SWEEP,
     "MODEL",
     "many runs with other values: a table of their outputs",
     "Runs the model at all combinations of the values of --vary and at samples of the distributions, on all cores, "
     "and\n"
     "under mpirun on several machines. Without --output-file the table goes to MODELNAME_sweep.csv. A point that "
     "fails is a\nrow with its cause. Finished points are kept in FILE.part until the table is written; --resume "
     "continues with them.\n",
     {"daedal sweep rc_circuit.mo --vary R=500:500:2000 --outputs 'max(uC)'",
      "daedal sweep rc_circuit.mo --vary 'C=log(1e-7,1e-5,5)' --outputs uC --plot sweep.svg",
      "daedal sweep rc_circuit.mo --distribution 'R=normal(1000,50)' --samples 20 -o samples.csv"},
     sweep_command},
    {"fit",
     IN_FIT,
     "MODEL",
     "parameters from measurements",
     "Finds the parameters and start values that fit measurements best, with their standard errors,\nconfidence "
     "intervals and correlations, and names those that the measurements do not determine.\n",
     {"daedal fit slider_crank.mo --data slider_crank_measured.csv --parameters J=0.2",
      "daedal fit slider_crank.mo --data slider_crank_measured.csv --parameters J=0.2,w=5 --plot fit.svg",
      "daedal fit slider_crank.mo --data slider_crank_measured.csv --parameters J=0.2:0:1 --json"},
     fit_command},
    {"plan",
     IN_PLAN,
     "MODEL",
     "the flat model with its initial values, as a file that runs start from",
     "Writes MODELNAME.plan, or the file of -o. Every command takes it in place of the model. It then reads no\n"
     "libraries and starts from the stored initial values. Another version of daedal refuses the file.\n",
     {"daedal plan pendulum.mo -o pendulum.plan", "daedal plan modelica/dc_motor.mo -o motor.plan",
      "daedal simulate pendulum.plan --stop-time 2 -o short.csv"},
     plan_command},
    {"export",
     IN_EXPORT,
     "MODEL",
     "write the model as C99 source, as a standalone solver, or as an FMU",
     "With --c, writes self-contained C99 into a directory: residual, sparse Jacobian, names, start values and a\n"
     "small driver; with --standalone a whole solver. With --fmu, writes a Functional Mock-up Unit of FMI 2.0 or "
     "3.0.\nThe exported code integrates with erk, radau or bdf, as --solver says.\n",
     {"daedal export pendulum.mo --c pendulum", "daedal export pendulum.mo --c solver --standalone",
      "daedal export pendulum.mo --fmu Pendulum.fmu --fmi 3"},
     export_command},
    {"report",
     IN_REPORT,
     "MODEL",
     "one HTML page of everything: structure, initial values, plots, constraints",
     "Analyzes and simulates the model and writes one HTML page: the text, the structure, how\nthe initial values were "
     "found, trajectories that you can zoom and select, events, residuals of the constraints,\n"
     "statistics, and the command to reproduce it. Without --html it goes to MODELNAME.html.\n",
     {"daedal report pendulum.mo", "daedal report pendulum.mo --animate '0,0;x,y' --html moving.html",
      "daedal report circuits/half_wave_rectifier.cir --html rectifier.html"},
     report_command},
    {"plot",
     IN_PLOT,
     "RESULT...",
     "curves of one result or several",
     "Draws results of earlier runs, in .csv or .mat, in one picture: without --output-file in characters on standard\n"
     "output. Signals of one name share a panel.\n",
     {"daedal plot Pendulum.csv", "daedal plot Pendulum.csv --variables x,y -o pendulum.svg",
      "daedal plot Pendulum.csv long.csv --variables y -o both.svg"},
     plot_command},
    {"diff",
     IN_DIFF,
     "RESULT RESULT",
     "differences between two results",
     "Lists for each signal of both results the largest difference and its time. Values are compared at all times of\n"
     "either result, interpolated linearly between rows. The exit status is 8 if a signal differs by more than\n"
     "--tolerance and --absolute allow, if only one result has a signal, or if they begin or end at different times.\n",
     {"daedal diff Pendulum.csv long.csv", "daedal diff Pendulum.csv long.csv --tolerance 1e-3 --plot both.svg",
      "daedal diff Pendulum.csv long.csv --variables x,y --json"},
     diff_command},
    {"fmu-check",
     IN_FMU,
     "FILE.fmu [MODEL]",
     "whether an FMU follows the rules of FMI, runs, and agrees with a model",
     "Reads the description of an FMU and names every rule of FMI 2.0 or 3.0 that it breaks. With --allow-external it "
     "also\n"
     "runs it to its stop time by model exchange and by co-simulation and compares the final values; with MODEL it "
     "compares\nboth with a run of the model. The exit status is 3 if a rule is broken, 8 if values differ by more "
     "than --tolerance.\n",
     {"daedal fmu-check Pendulum.fmu", "daedal fmu-check Pendulum.fmu --allow-external",
      "daedal fmu-check Pendulum.fmu pendulum.mo --allow-external --tolerance 1e-4"},
     fmu_check_command},
    {"explain",
     IN_EXPLAIN,
     "[CODE]",
     "what the code of a message means",
     "Says what the code at the end of a message means and what to try. Without a code, lists all of them.\n",
     {"daedal explain", "daedal explain D401", "daedal explain D601"},
     explain_command},
    {"doctor",
     IN_DOCTOR,
     "",
     "check what is installed on this machine",
     "Lists what daedal was built with and what it finds on this machine, what each is for and how to get it, and "
     "makes a\nsmall run.\n",
     {"daedal doctor", "daedal doctor | grep -i compiler", "daedal --version"},
     doctor_command},
    {"completion",
     IN_COMPLETION,
     "SHELL",
     "a script for shell completion",
     "Prints a script for bash, zsh or fish. The scripts complete the names of a model, too, which they get from\n"
     "daedal completion variables MODEL and daedal completion parameters MODEL.\n",
     {"source <(daedal completion bash)", "daedal completion zsh > _daedal",
      "daedal completion parameters pendulum.mo"},
     completion_command},
    {0},
};

static const Command *command_find(const char *name) {
  for (const Command *command = commands; command->name; command++)
    if (!strcmp(command->name, name)) return command;
  return NULL;
}

static int unknown_command(const char *name) {
  const char *names[sizeof commands / sizeof *commands];
  size_t count = 0;
  while (commands[count].name) names[count] = commands[count].name, count++;
  names[count] = NULL;
  usage_error("there is no command '%s' in this version", name);
  suggest_print(name, names, "commands");
  return DAEDAL_USAGE;
}

static bool give_up_rights(const Command *command, const Arguments *arguments) {
  if (arguments->sandbox && arguments->no_sandbox)
    return usage_error("--sandbox and --no-sandbox cannot be used together");
  if (arguments->sandbox) return sandbox_enter(arguments);
  if (command->bit & IN_MODELS && !arguments->no_sandbox) sandbox_enter_default(arguments);
  return true;
}

static int run_command(const Command *command, int count, char **words) {
  Arguments arguments;
  int status = DAEDAL_USAGE;
  if (options_parse(command, count, words, &arguments)) {
    arguments.word_count = count + 1;
    arguments.words = words - 1;
    status = 0;
    if (arguments.help) help_command(stdout, command);
    else if (give_up_rights(command, &arguments)) status = command->run(&arguments);
    else status = DAEDAL_USAGE;
  }
  arguments_free(&arguments);
  return status;
}

static int dispatch(int count, char **words) {
  if (count < 2) {
    help_short(stderr);
    return DAEDAL_USAGE;
  }
  const char *first = words[1];
  const Command *command = command_find(first);
  if (command) return run_command(command, count - 2, words + 2);
  if (!strcmp(first, "--version")) {
    print_version(stdout);
    return 0;
  }
  if (!strcmp(first, "--help") || !strcmp(first, "-h") || !strcmp(first, "help")) {
    const Command *subject = count > 2 ? command_find(words[2]) : NULL;
    if (count > 2 && !subject) return unknown_command(words[2]);
    if (subject) help_command(stdout, subject);
    else help_all(stdout);
    return 0;
  }
  if (first[0] == '-')
    return usage_error("the command comes first, options after it: daedal COMMAND MODEL %s", first), DAEDAL_USAGE;
  return unknown_command(first);
}

/* Returns freed blocks of 4 MB and more to the system, and all but 64 MB of smaller ones: the system takes a microsecond to
 * provide a page again. By default the C library would keep larger and larger blocks. */
static void return_large_blocks(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

int main(int count, char **words) {
  return_large_blocks();
  output_begin();
  progress_catch_signals();
  return output_end(dispatch(count, words));
}
