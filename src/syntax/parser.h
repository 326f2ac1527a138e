/* parser: parses Base Modelica and Modelica 3.6 to a syntax tree (docs/language.md has the grammar and the list of
 * errors). */
#pragma once

#include "syntax/ast.h"

/* Reads the main file of the source, if it has a path. It has no path if all classes come from libraries. The tree lives in `heap`.
 * It is never NULL, and complete only if no error was added to `diags` (all are DIAG_INPUT; one call may report several). Names are
 * interned in `names`. O(length) time and memory; only memory limits nesting. */
Ast *parse(Heap *heap, Names *names, const Source *source, Diags *diags);

/* Reads another file of the tree's source, in the same way. */
const AstFile *parse_file(Ast *ast, uint32_t file, Diags *diags);

/* Reads an expression from another text; its nodes have no place in the source. AST_NONE after an error. */
AstExpr parse_value(Ast *ast, const char *text, Diags *diags);
