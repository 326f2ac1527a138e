/* restrict: the rules of the language that can be checked from the text of a class, without looking up a name. They concern
 * prefixes that cannot be combined, the restrictions of specialized classes (Modelica 3.6, sections 4.4 to 4.8 and 12.2), and
 * elements that are modified or imported twice (sections 7.2.4 and 13.2). In the user's file, a violation is an error at once.
 * A library class keeps it in `breaches`; it becomes an error when the class is used. If the meaning of a violation is clear
 * anyway, it is kept in both cases. */
#pragma once

#include "syntax/parser_state.h"

/* Checks the prefixes of an element, which begins at `span`. */
void restrict_element(Parser *parser, const AstElement *element, Span span);

/* Checks a complete class. `time` is where it uses the time; an empty span if it does not. */
void restrict_class(Parser *parser, AstClass *definition, Span time);

/* Checks the arguments of a modification that is not an annotation. */
void restrict_modification(Parser *parser, const AstModification *modification);
