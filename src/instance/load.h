/* load: the front door of the language: text in, flat model out. */
#pragma once

#include "lang/lang.h"

/* Parses a text and elaborates a model of it, as lang_load does, with classes of components, connections and libraries.
 * A text that is flat already is elaborated as it is. */
Model *instance_load(Heap *heap, Names *names, Source *source, const char *class_name,
                     const ModificationVec *modifications, LangOptions options, Diags *diags);
