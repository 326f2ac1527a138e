/* completion: scripts by which shells complete the command line, made from the tables of commands and options. */
#include "cli/options.h"
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

/* What a shell may offer for a value. */
typedef enum Offer { OFFER_NOTHING, OFFER_FILES, OFFER_DIRECTORIES, OFFER_NAMES } Offer;

static Offer offer_of(const Option *option) {
  switch (option->kind) {
  case OPTION_FLAG:
  case OPTION_NUMBER:
  case OPTION_POSITIVE:
  case OPTION_COUNT:
  case OPTION_PAIR:
  case OPTION_SEED:
  case OPTION_WORDS:
  case OPTION_LIST:
  case OPTION_TEXT: return OFFER_NOTHING;
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

/* The help without what would end a quoted word of a shell. */
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
    } else if (offer != OFFER_NOTHING) {
      printf("COMPREPLY=($(compgen -%c -- \"$word\"));", offer == OFFER_FILES ? 'f' : 'd');
    }
    puts(" return ;;");
  }
}

static void print_bash(void) {
  puts("# bash completion of daedal\n_daedal() {\n  local word=${COMP_WORDS[COMP_CWORD]} "
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
    else if (offer != OFFER_NOTHING) printf(offer == OFFER_FILES ? "_files" : "_files -/");
  }
  puts("' \\");
}

static void print_zsh(void) {
  puts("#compdef daedal\n_daedal() {\n  local -a commands=(");
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

static void print_fish_option(const Command *command, const Option *option) {
  Offer offer = offer_of(option);
  printf("complete -c daedal -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name + 2);
  if (option->short_name) printf(" -s %s", option->short_name + 1);
  if (option->argument) printf(offer == OFFER_NAMES || offer == OFFER_NOTHING ? " -x" : " -r");
  if (offer == OFFER_NAMES) printf(" -a '"), print_names(option), printf("'");
  printf(" -d '");
  print_help(option->help);
  puts("'");
}

static void print_fish(void) {
  puts("# fish completion of daedal");
  for (const Command *command = commands; command->name; command++) {
    printf("complete -c daedal -n __fish_use_subcommand -f -a %s -d '", command->name);
    print_help(command->summary);
    puts("'");
    for (const Option *option = options; option->name; option++)
      if (option->commands & command->bit) print_fish_option(command, option);
  }
}

int completion_command(const Arguments *arguments) {
  static const struct {
    const char *shell;
    void (*print)(void);
  } scripts[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  const char *names[] = {"bash", "zsh", "fish", NULL};
  for (size_t k = 0; k < sizeof scripts / sizeof *scripts; k++) {
    if (strcmp(scripts[k].shell, arguments->model_path) != 0) continue;
    scripts[k].print();
    return 0;
  }
  usage_error("there is no script for the shell '%s'", arguments->model_path);
  suggest_print(arguments->model_path, names, "shells");
  return DAEDAL_USAGE;
}
