/* parser: text to syntax tree. Base Modelica and Modelica 3.6 (docs/language.md has the grammar and what is
 * refused). */
#pragma once

#include "syntax/ast.h"

/* Reads the main file of the source, if that has a path: it has none where all classes come from libraries. The tree lives in `heap`; it is never NULL, and whole only if no error was added to
 * `diags` (all DIAG_INPUT, several a run). Names are interned in `names`. O(length) time and memory; nesting
 * has no limit but memory. */
Ast *parse(Heap *heap, Names *names, const Source *source, Diags *diags);

/* Reads one more file of the tree's source, of which the same holds. */
const AstFile *parse_file(Ast *ast, uint32_t file, Diags *diags);

/* Reads an expression from another text; its nodes have no place in the source. AST_NONE after an error. */
AstExpr parse_value(Ast *ast, const char *text, Diags *diags);
