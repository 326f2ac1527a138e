/* explain: lists the codes, or explains one of them. */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 90, MOST_CODES = 100 };

/* Prints words in lines of at most COLUMNS characters. */
static void print_wrapped(const char *text) {
  int column = 0;
  for (const char *word = text; *word;) {
    int length = (int)strcspn(word, " ");
    if (column && column + 1 + length > COLUMNS) column = 0, putchar('\n');
    printf("%s%.*s", column ? " " : "", length, word);
    column += length + (column > 0);
    word += length + (word[length] == ' ');
  }
  putchar('\n');
}

static int unknown_code(const char *code) {
  const char *names[MOST_CODES + 1] = {0};
  for (uint32_t k = 0; k < MOST_CODES && daedal_code_get(k).code; k++) names[k] = daedal_code_get(k).code;
  usage_error("there is no code '%s'", code);
  suggest_print(code, names, "codes");
  return DAEDAL_USAGE;
}

int explain_command(const Arguments *arguments) {
  const char *wanted = arguments->model_path;
  daedal_code row;
  for (uint32_t k = 0; (row = daedal_code_get(k)).code; k++) {
    if (!wanted) printf("%s  %s\n", row.code, row.title);
    else if (strcmp(row.code, wanted) == 0) {
      printf("%s: %s\n\n", row.code, row.title);
      print_wrapped(row.explanation);
      return 0;
    }
  }
  return wanted ? unknown_code(wanted) : 0;
}
