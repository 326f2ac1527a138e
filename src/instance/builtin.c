/* builtin: the classes that every model may use without a library. Their text is builtin.mo; see builtin.h. */
#include "instance/builtin.h"

#include "syntax/parser.h"

#include <string.h>

extern const char builtin_mo[]; /* of builtin.mo */

static void read_text(Tree *tree) {
  uint32_t file = source_add(tree->source, "(built in)", builtin_mo, (uint32_t)strlen(builtin_mo));
  tree->builtin = parse_file(tree->ast, file, tree->diags);
}

const AstClass *builtin_find(Tree *tree, Name name) {
  if (!tree->builtin) read_text(tree);
  for (uint32_t i = 0; i < tree->builtin->classes.count; i++)
    if (tree->builtin->classes.data[i]->label.name == name) return tree->builtin->classes.data[i];
  return NULL;
}

bool builtin_holds(const Tree *tree, const AstClass *definition) {
  for (uint32_t i = 0; tree->builtin && i < tree->builtin->classes.count; i++)
    if (tree->builtin->classes.data[i] == definition) return true;
  return false;
}
