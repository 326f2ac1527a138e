/* load: the entry to the language: text in, flat model out. */
#pragma once

#include "lang/lang.h"

/* Parses a text and elaborates a model of it like lang_load, with support for classes of components, connections and libraries. A
 * text that is already flat is elaborated as it is. */
Model *instance_load(Heap *heap, Names *names, Source *source, const char *class_name,
                     const ModificationVec *modifications, LangOptions options, Diags *diags);
