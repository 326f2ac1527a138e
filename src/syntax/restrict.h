/* restrict: what the language refuses in a class by the text of the class alone, without looking up a name: prefixes
 * that exclude each other, the restrictions of specialized classes (Modelica 3.6, sections 4.4 to 4.8 and 12.2),
 * what is modified or imported twice (sections 7.2.4 and 13.2). In the user's file it is an error at once; a class
 * of a library keeps it in `breaches`, and it is an error as soon as the class is used. A text whose meaning is
 * plain all the same is kept in both cases. */
#pragma once

#include "syntax/parser_state.h"

/* Prefixes of an element, which begins at `span`. */
void restrict_element(Parser *parser, const AstElement *element, Span span);

/* A class that is whole. `time` is where it mentions the time; an empty span if it does not. */
void restrict_class(Parser *parser, AstClass *definition, Span time);

/* The arguments of a modification, not of an annotation. */
void restrict_modification(Parser *parser, const AstModification *modification);
