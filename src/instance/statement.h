/* statement: equations and statements of the text to flat ones. */
#pragma once

#include "instance/flat.h"

/* Resolves the statements, appended to `out`; connections are left out where `may_connect` says that they may stand
 * there. False after an error. */
bool resolve_statements(Resolver *resolver, const AstStatement *list, uint32_t count, bool may_connect,
                        StatementVec *out);

/* Blocks nest at most so deep. */
enum { DEPTH_LIMIT = 200 };

/* Collects the connections among the equations in the instance: ifs around them are decided, fors unrolled. */
bool collect_clauses(Tree *tree, Scope scope, const AstStatement *list, uint32_t count);
