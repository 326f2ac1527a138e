/* structure: the whole structural analysis of a differential-algebraic problem, on integers only.
 *
 * Invariant: when status is STRUCTURE_OK, c and d are the smallest canonical offsets, and the differentiated
 * problem (equation i differentiated c[i] times) has a perfect matching with respect to its highest
 * derivatives d[j]. Otherwise `dulmage` names the culprits, and c, d and the blocks are empty.
 */
#pragma once

#include "structure/blocks.h"
#include "structure/dulmage.h"
#include "structure/pantelides.h"

typedef enum StructureStatus {
  STRUCTURE_OK,
  STRUCTURE_UNBALANCED, /* numbers of equations and variables differ */
  STRUCTURE_SINGULAR,   /* the numbers agree, but no perfect matching exists */
} StructureStatus;

typedef struct Structure {
  StructureStatus status;
  int32_t n_equations, n_variables;
  Matching matching; /* rows are equations, columns variables; see Pantelides.matching */
  int32_t *c, *d;
  int32_t structural_index; /* max c, plus 1 if some d is 0 */
  int64_t differentiations; /* sum c */
  int64_t dof;              /* sum d - sum c */
  Blocks blocks;            /* blocks of the differentiated problem with respect to its highest derivatives (fine
                               blocks of Pryce, Nedialkov, Tan) */
  /* If equations are differentiated: the blocks of the undifferentiated problem, for all orders of derivatives; each consists of
   * complete fine blocks. See structure_coarse. */
  Blocks coarse;
  /* The last differentiations of some blocks are superfluous: index 1 is reached without them (Mattsson, Söderlind 1991, section 3,
   * "Removing superfluous differentiations"). Neither such a block nor a block that uses its highest derivatives contains an
   * algebraic variable (d = 0, or see structure_need). */
  bool *superfluous_block;
  bool *superfluous; /* per equation: its c[i]-th differentiation is superfluous */
  int32_t n_superfluous;
  /* A multistep method may replace the superfluous differentiations of a removable block by differences, without
   * larger errors. The constraints of such a block contain only its own unknowns and functions of time (unknowns of
   * coarse blocks that neither have states nor depend on any). The choice of states among its own unknowns bounds the growth of
   * errors. The remaining differentiated equations do not use the block's highest derivatives. */
  bool *removable_block;
  Dulmage dulmage;
} Structure;

/* Analyses the incidence. Owned by the arena, which must outlive the result; nothing of the input is kept.
 * About O(entries * log n). */
Structure structure_run(Arena *arena, const Incidence *incidence);

/* The coarse blocks of a structure that is ok, also if no equation is differentiated. The incidence is the one of which the
 * structure was made. Owned by the arena or the structure. O(entries * log n). */
Blocks structure_coarse(Arena *arena, const Incidence *incidence, const Structure *structure);

/* Raises the offsets of a structure that is ok: the result has the smallest valid offsets for which d[j] >= least[j]. It has more
 * derivatives, but the same Jacobian, blocks and degrees of freedom. Owned by the arena. O(entries) times the largest increase. */
Structure structure_raise(Arena *arena, const Incidence *incidence, const Structure *structure, const int32_t *least);

/* Changes a structure that is ok so that preferred unknowns can be states although no equation differentiates them. Their equations may be differentiated if they are smooth. If all equations between the preferred unknowns
 * and the states are smooth, they are differentiated once and form one block with the equations that determine the states. This is
 * not done if a loop of other equations would be part of that block, or if the states would follow from the preferred unknowns only
 * by a loop. The degrees of freedom stay the same. Owned by the arena. O(entries). */
Structure structure_prefer(Arena *arena, const Incidence *incidence, const Structure *structure, const bool *preferred,
                           const bool *smooth);

/* Finds the superfluous differentiations again. The highest derivatives of the unknowns with needed[j] now count as
 * algebraic variables: each stands for v in an eliminated v = der(x). Owned by the arena. O(entries). */
void structure_need(Arena *arena, const Incidence *incidence, Structure *structure, const bool *needed);
