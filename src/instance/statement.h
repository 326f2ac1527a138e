/* statement: equations and statements of the text become flat ones. */
#pragma once

#include "instance/flat.h"

/* Resolves the statements and appends them to `out`. `may_connect`: connections may occur, and are left out. False after an
 * error. */
bool resolve_statements(Resolver *resolver, const AstStatement *list, uint32_t count, bool may_connect,
                        StatementVec *out);

/* Limit for the nesting of blocks. */
enum { DEPTH_LIMIT = 200 };

/* Collects the connections among the equations of the instance: enclosing ifs are decided, and fors unrolled. */
bool collect_clauses(Tree *tree, Scope scope, const AstStatement *list, uint32_t count);
