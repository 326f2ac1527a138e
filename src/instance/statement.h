/* statement: equations and statements of the text to flat ones. */
#pragma once

#include "instance/flat.h"

/* Resolves the statements, appended to `out`. Connections are collected in `clauses`, the instance whose text it is;
 * NULL: there may be none. False after an error. */
bool resolve_statements(Resolver *resolver, const AstStatement *list, uint32_t count, Instance *clauses,
                        StatementVec *out);
