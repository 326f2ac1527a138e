/* lang: the front door of the language: text in, flat model out. */
#ifndef DAEDAL_LANG_LANG_H
#define DAEDAL_LANG_LANG_H

#include "model/model.h"

/* Parses and elaborates. `class_name` chooses the model (its name, with or without the packages around
 * it); NULL: the last model in the file. Returns NULL, with at least one error in `diags`, if the text is
 * not a valid model; else the model, which lives in `heap` (`source` must outlive it). O(length of the
 * text and size of the result). */
Model *lang_load(Heap *heap, Names *names, Source *source, const char *class_name, Diags *diags);

#endif
