/* cdata: arrays, texts and whole programs as C99 text. */
#pragma once

#include "code/ctext.h"

/* A string literal; text inside of a comment. */
void cdata_string(Heap *heap, TextVec *out, const char *text);
void cdata_comment(Heap *heap, TextVec *out, const char *text);

/* Arrays of constants. `kind` is written before them: "static " or "". Each array has one element more than `count`, since C has no
 * empty arrays. */
void cdata_strings(Heap *heap, TextVec *out, const char *name, const char *const *texts, uint32_t count);
void cdata_numbers(Heap *heap, TextVec *out, const char *kind, const char *name, const double *numbers, uint32_t count);
void cdata_integers(Heap *heap, TextVec *out, const char *kind, const char *name, const int32_t *numbers,
                    uint32_t count);
/* `kind` is the declaration before the name; its last word is the type of the elements. */
void cdata_indices(Heap *heap, TextVec *out, const char *kind, const char *name, const uint32_t *numbers,
                   uint32_t count);

/* A program under the name model_<name>. */
typedef struct ProgramText {
  const Program *program;
  const char *name;
  CText text;
} ProgramText;

ProgramText program_text(Heap *heap, const Program *program, const char *name);

/* The size of the program's work space, in numbers. */
uint32_t program_text_work(const ProgramText *text);

/* Everything that the programs of one model need, and each program as a function
 *   int model_<name>(double time, const double *y, const double *parameters, const double *discretes,
 *                    const double *pre, double *work, double *out);
 * tables: the text with the tables that stand for objects of the model (lookups); NULL: there is none.
 * false: the model calls a function that cannot be written as C; an error is in diags. O(text). */
bool cdata_programs(Heap *heap, TextVec *out, const Model *model, const ProgramText *texts, uint32_t count,
                    const char *kind, const TextVec *tables, Diags *diags);
