/* final: final equations that are given in addition to the text of the model. */
#include "lang/elaborate.h"
#include "syntax/parser.h"

#include <string.h>

/* The first of these characters outside of brackets and quotes, or the end of the text. */
static const char *scan(const char *text, const char *wanted) {
  int depth = 0;
  for (char quote = 0; *text; text++) {
    if (quote) quote = *text == quote ? 0 : quote;
    else if (*text == '\'' || *text == '"') quote = *text;
    else if (strchr("([{", *text)) depth++;
    else if (strchr(")]}", *text)) depth--;
    else if (depth == 0 && strchr(wanted, *text)) return text;
  }
  return text;
}

/* left = right { ";" left = right } */
void final_read(Elaboration *el, Ast *ast, const char *text) {
  while (*text) {
    const char *end = scan(text, ";"), *item = arena_copy(&el->arena, text, (size_t)(end - text));
    const char *equal = scan(item, "=");
    text = *end ? end + 1 : end;
    if (!item[strspn(item, " \t\n")]) continue;
    if (!*equal || equal[1] == '=') {
      diag_error(el->diags, DIAG_USAGE, (Span){0}, "`%s` is not an equation", item);
      continue;
    }
    const char *left = arena_copy(&el->arena, item, (size_t)(equal - item));
    AstStatement statement = {.kind = AST_EQUALITY,
                              .left = parse_value(ast, left, el->diags),
                              .right = parse_value(ast, equal + 1, el->diags)};
    if (statement.left != AST_NONE && statement.right != AST_NONE) vec_push(el->heap, &el->final_statements, statement);
  }
}
