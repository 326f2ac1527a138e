/* completion: scripts for shells that complete the command line, made from the tables of commands and options. They get the names
 * of a model by `daedal completion variables MODEL`, and its parameters likewise. */
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

/* The values that a shell offers. */
typedef enum Offer {
  OFFER_NOTHING,
  OFFER_FILES,
  OFFER_DIRECTORIES,
  OFFER_NAMES,
  OFFER_VARIABLES, /* of the model */
  OFFER_PARAMETERS
} Offer;

static const char *const names_of_model[] = {[OFFER_VARIABLES] = "variables", [OFFER_PARAMETERS] = "parameters"};

static bool is_of_model(Offer offer) { return offer == OFFER_VARIABLES || offer == OFFER_PARAMETERS; }

static Offer offer_of(const Option *option) {
  switch (option->kind) {
  case OPTION_FLAG:
  case OPTION_NUMBER:
  case OPTION_POSITIVE:
  case OPTION_COUNT:
  case OPTION_PAIR:
  case OPTION_SEED:
  case OPTION_TEXT: return OFFER_NOTHING;
  case OPTION_LIMITS: return OFFER_NOTHING;
  case OPTION_PAIRS:
  case OPTION_VALUES:
  case OPTION_LIST: return OFFER_VARIABLES;
  case OPTION_AXIS:
  case OPTION_DISTRIBUTION:
  case OPTION_GUESSES:
  case OPTION_PARAMETERS:
  case OPTION_OVERRIDES: return OFFER_PARAMETERS;
  case OPTION_METHOD:
  case OPTION_METHODS:
  case OPTION_SOLVER:
  case OPTION_SOLVERS:
  case OPTION_DUMP:
  case OPTION_MNA:
  case OPTION_AXES:
  case OPTION_WAY:
  case OPTION_SAMPLING: return OFFER_NAMES;
  case OPTION_SEARCHED:
  case OPTION_DIRECTORY: return OFFER_DIRECTORIES;
  case OPTION_TRAJECTORY:
  case OPTION_PICTURE:
  case OPTION_PLOT:
  case OPTION_PAGE:
  case OPTION_READ:
  case OPTION_INPUTS:
  case OPTION_LIBRARY:
  case OPTION_JSON:
  case OPTION_RUNS:
  case OPTION_OUTPUT: return OFFER_FILES;
  }
  return OFFER_NOTHING;
}

static void print_names(const Option *option) {
  const char *const *names = option_names(option);
  for (const char *const *name = names; name && *name; name++) printf("%s%s", name == names ? "" : " ", *name);
}

/* Prints the help without characters that would end a quoted word of a shell. */
static void print_help(const char *help) {
  for (; *help; help++)
    if (!strchr("'\"[]:`\\", *help)) putchar(*help);
}

/* ---- bash ---- */

static void print_bash_values(void) {
  for (const Option *option = options; option->name; option++) {
    Offer offer = offer_of(option);
    if (!option->argument) continue;
    printf("    %s) ", option->name);
    if (offer == OFFER_NAMES) {
      printf("COMPREPLY=($(compgen -W '");
      print_names(option);
      printf("' -- \"$word\"));");
    } else if (is_of_model(offer)) {
      printf("_daedal_names %s;", names_of_model[offer]);
    } else if (offer != OFFER_NOTHING) {
      printf("COMPREPLY=($(compgen -%c -- \"$word\"));", offer == OFFER_FILES ? 'f' : 'd');
    }
    puts(" return ;;");
  }
}

/* Passes the words that name the model to `daedal completion`. In a list, completes the part after the last comma. */
static const char bash_names[] = "_daedal_names() {\n"
                                 "  local model=() k name list= prefix=\n"
                                 "  for ((k = 2; k < COMP_CWORD; k++)); do\n"
                                 "    case ${COMP_WORDS[k]} in\n"
                                 "      *.mo|*.bmo|*.cir|*.sp|*.net) model+=(\"${COMP_WORDS[k]}\") ;;\n"
                                 "      --model|--library) model+=(\"${COMP_WORDS[k]}\" \"${COMP_WORDS[k+1]}\") ;;\n"
                                 "    esac\n"
                                 "  done\n"
                                 "  case $word in *,*) list=${word%,*}, prefix=${word##*,} ;; *) prefix=$word ;; esac\n"
                                 "  while IFS= read -r name; do\n"
                                 "    [[ $name == \"$prefix\"* ]] && COMPREPLY+=(\"$list$name\")\n"
                                 "  done < <(daedal completion \"$1\" \"${model[@]}\" 2>/dev/null)\n"
                                 "  compopt -o nospace 2>/dev/null\n"
                                 "}";

static void print_bash(void) {
  puts("# bash completion of daedal");
  puts(bash_names);
  puts("_daedal() {\n  local word=${COMP_WORDS[COMP_CWORD]} "
       "before=${COMP_WORDS[COMP_CWORD-1]} "
       "names=\n  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then");
  printf("    COMPREPLY=($(compgen -W '");
  for (const Command *command = commands; command->name; command++) printf("%s ", command->name);
  puts("--help --version' -- \"$word\"))\n    return\n  fi\n  case $before in");
  print_bash_values();
  puts("  esac\n  case ${COMP_WORDS[1]} in");
  for (const Command *command = commands; command->name; command++) {
    printf("    %s) names='", command->name);
    for (const Option *option = options; option->name; option++)
      if (option->commands & command->bit) printf("%s ", option->name);
    puts("' ;;");
  }
  puts("  esac\n  case $word in\n    -*) COMPREPLY=($(compgen -W \"$names\" -- \"$word\")) ;;\n"
       "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}\ncomplete -o filenames -F _daedal daedal");
}

/* ---- zsh ---- */

static void print_zsh_option(const Option *option) {
  printf("      '%s[", option->name);
  print_help(option->help);
  printf("]");
  if (option->argument) {
    Offer offer = offer_of(option);
    printf(": :");
    if (offer == OFFER_NAMES) printf("("), print_names(option), printf(")");
    else if (is_of_model(offer)) printf("_daedal_names %s", names_of_model[offer]);
    else if (offer != OFFER_NOTHING) printf(offer == OFFER_FILES ? "_files" : "_files -/");
  }
  puts("' \\");
}

static const char zsh_names[] = "_daedal_names() {\n"
                                "  local -a model=() names=()\n"
                                "  local k\n"
                                "  for ((k = 3; k < CURRENT; k++)); do\n"
                                "    case $words[k] in\n"
                                "      *.mo|*.bmo|*.cir|*.sp|*.net) model+=(${(Q)words[k]}) ;;\n"
                                "      --model|--library) model+=($words[k] ${(Q)words[k+1]}) ;;\n"
                                "    esac\n"
                                "  done\n"
                                "  names=(${(f)\"$(daedal completion $1 $model 2>/dev/null)\"})\n"
                                "  compset -P '*,'\n"
                                "  compadd -S '' -a names\n"
                                "}";

static void print_zsh(void) {
  puts("#compdef daedal");
  puts(zsh_names);
  puts("_daedal() {\n  local -a commands=(");
  for (const Command *command = commands; command->name; command++) {
    printf("    '%s:", command->name);
    print_help(command->summary);
    puts("'");
  }
  puts("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in");
  for (const Command *command = commands; command->name; command++) {
    printf("    %s) _arguments \\\n", command->name);
    for (const Option *option = options; option->name; option++)
      if (option->commands & command->bit) print_zsh_option(option);
    puts("      '*: :_files' ;;");
  }
  puts("  esac\n}\n_daedal \"$@\"");
}

/* ---- fish ---- */

static const char fish_names[] = "function __daedal_names\n"
                                 "  set -l words (commandline -opc)\n"
                                 "  set -l model\n"
                                 "  for k in (seq 3 (count $words))\n"
                                 "    switch $words[$k]\n"
                                 "      case '*.mo' '*.bmo' '*.cir' '*.sp' '*.net'; set -a model $words[$k]\n"
                                 "      case --model --library; set -a model $words[$k] $words[(math $k + 1)]\n"
                                 "    end\n"
                                 "  end\n"
                                 "  set -l list (string match -r '.*,' -- (commandline -ct))\n"
                                 "  for name in (daedal completion $argv[1] $model 2>/dev/null)\n"
                                 "    echo $list$name\n"
                                 "  end\n"
                                 "end";

static void print_fish_option(const Command *command, const Option *option) {
  Offer offer = offer_of(option);
  printf("complete -c daedal -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name + 2);
  if (option->short_name) printf(" -s %s", option->short_name + 1);
  if (option->argument) printf(offer == OFFER_FILES || offer == OFFER_DIRECTORIES ? " -r" : " -x");
  if (offer == OFFER_NAMES) printf(" -a '"), print_names(option), printf("'");
  if (is_of_model(offer)) printf(" -a '(__daedal_names %s)'", names_of_model[offer]);
  printf(" -d '");
  print_help(option->help);
  puts("'");
}

static void print_fish(void) {
  puts("# fish completion of daedal");
  puts(fish_names);
  for (const Command *command = commands; command->name; command++) {
    printf("complete -c daedal -n __fish_use_subcommand -f -a %s -d '", command->name);
    print_help(command->summary);
    puts("'");
    for (const Option *option = options; option->name; option++)
      if (option->commands & command->bit) print_fish_option(command, option);
  }
}

/* ---- names of a model ---- */

static bool is_offered(const daedal_variable *variable, Offer offer) {
  bool is_parameter = variable->kind == DAEDAL_KIND_PARAMETER;
  return variable->kind != DAEDAL_KIND_CONSTANT && (offer == OFFER_VARIABLES ? !is_parameter : is_parameter);
}

/* Prints one name per line; leaves out names with line breaks. */
static int print_model_names(const Arguments *arguments, Offer offer) {
  daedal_load_options reading = session_reading(arguments);
  daedal_model *model = daedal_load(arguments->paths.words[1], NULL, 0, &reading);
  for (uint32_t k = 0; k < daedal_variable_count(model); k++) {
    daedal_variable variable = daedal_variable_get(model, k);
    if (is_offered(&variable, offer) && !strchr(variable.name, '\n')) output_text(variable.name);
  }
  int status = (int)daedal_status_of(model);
  daedal_free(model);
  return status;
}

int completion_command(const Arguments *arguments) {
  static const struct {
    const char *shell;
    void (*print)(void);
  } scripts[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  const char *names[] = {"bash", "zsh", "fish", "variables", "parameters", NULL};
  const char *asked = arguments->model_path;
  for (Offer offer = OFFER_VARIABLES; offer <= OFFER_PARAMETERS; offer++)
    if (!strcmp(asked, names_of_model[offer])) return print_model_names(arguments, offer);
  if (arguments->paths.words[1]) return usage_error("one shell at a time"), DAEDAL_USAGE;
  for (size_t k = 0; k < sizeof scripts / sizeof *scripts; k++) {
    if (strcmp(scripts[k].shell, asked) != 0) continue;
    scripts[k].print();
    return 0;
  }
  usage_error("there is no script for the shell '%s'", asked);
  suggest_print(asked, names, "words");
  return DAEDAL_USAGE;
}
