/* form: recognizes the structural forms for which consistent initial values follow by linear solves after
 * the first level (Estévez Schwarz 2010): index 2 with restricted nonlinearity (section 2), Hessenberg form
 * of order r (section 4), triangular chains of such blocks (section 5), Hessenberg form with coupled index-1
 * constraints and contact problems (section 6).
 *
 * The model is looked at as written, derivatives as they stand. A variable that an equation gives as z =
 * expression, and whose derivative occurs nowhere, only abbreviates: it is put into the others (the first
 * 5000 of them).
 */
#pragma once

#include "array/array.h"

typedef enum FormKind {
  FORM_NONE,               /* none of the others */
  FORM_INDEX_1,            /* no hidden constraints */
  FORM_INDEX_2_RESTRICTED, /* (2): index-2 components occur linearly; Theorem 2.1 */
  FORM_HESSENBERG,         /* Definition 4.1; Theorem 4.3 */
  FORM_HESSENBERG_INDEX_1, /* Definition 6.1: with coupled index-1 constraints */
  FORM_CONTACT_NONLINEAR,  /* section 6: multipliers enter nonlinearly, generalized Grübler condition */
} FormKind;

typedef struct FormPart {
  FormKind kind;
  int32_t order;                                         /* of the Hessenberg form: the index of the part */
  uint32_t equations, constraints, multipliers, coupled; /* coupled: index-1 variables at the constraints' level */
  uint32_t first;                                        /* its first equation of the model */
  IndexVec unknowns,
      highest; /* of the model: all of the part; algebraic ones that a differential equation determines */
} FormPart;

/* The parts of a model with hidden constraints, in the order in which they determine each other: more than
 * one is a triangular chain (section 5). */
typedef struct InitialForm {
  VEC(FormPart) parts;
} InitialForm;

/* Looks for the forms. Vectors are owned by the heap. About linear in the size of the model. */
InitialForm form_find(Model *model, Heap *heap);

/* One line: what was recognized. Lives in the arena. */
const char *form_text(const InitialForm *form, Arena *arena);

/* The same for one part, without saying where. */
const char *form_part_text(const FormPart *part, Arena *arena);
