/* structure: the whole structural analysis of a differential-algebraic problem, on integers only.
 *
 * Invariant: when status is STRUCTURE_OK, c and d are the smallest canonical offsets, and the differentiated
 * problem (equation i differentiated c[i] times) has a perfect matching with respect to its highest
 * derivatives d[j]. Otherwise `dulmage` names the culprits, and c, d and the blocks are empty.
 */
#ifndef DAEDAL_STRUCTURE_STRUCTURE_H
#define DAEDAL_STRUCTURE_STRUCTURE_H

#include "structure/blocks.h"
#include "structure/dulmage.h"
#include "structure/pantelides.h"

typedef enum StructureStatus {
  STRUCTURE_OK,
  STRUCTURE_UNBALANCED, /* numbers of equations and variables differ */
  STRUCTURE_SINGULAR,   /* they agree, but no perfect matching exists */
} StructureStatus;

typedef struct Structure {
  StructureStatus status;
  int32_t n_equations, n_variables;
  Matching matching; /* rows are equations, columns variables; see Pantelides.matching */
  int32_t *c, *d;
  int32_t structural_index; /* max c, plus 1 if some d is 0 */
  int64_t differentiations; /* sum c */
  int64_t dof;              /* sum d - sum c */
  Blocks blocks;            /* of the differentiated problem with respect to its highest derivatives (fine
                               blocks of Pryce, Nedialkov, Tan) */
  Blocks coarse;            /* of the undifferentiated problem, derivatives not distinguished; each holds
                               whole fine blocks */
  /* Blocks whose last differentiations are not needed to reach index 1 (Mattsson, Söderlind 1991, section 3,
   * "Removing superfluous differentiations"): neither the block nor one that uses its highest derivatives
   * holds an algebraic variable (d = 0, or see structure_need). superfluous[i]: the c[i]-th differentiation of
   * equation i is one. */
  bool *index_zero;  /* per block */
  bool *superfluous; /* per equation */
  int32_t n_superfluous;
  /* Of these blocks those whose last differentiations an integrator may do without, by differences. The constraints of such a block hold its
   * own unknowns alone, among which the choice of states bounds how errors grow, and functions of time (unknowns of coarse
   * blocks without states that depend on no states); no differentiated equation that stays uses its highest derivatives. */
  bool *spare; /* per block */
  Dulmage dulmage;
} Structure;

/* Analyses the incidence. Owned by the arena, which must outlive the result; nothing of the input is kept.
 * About O(entries * log n). */
Structure structure_run(Arena *arena, const Incidence *incidence);

/* The same structure, which must be ok, with the smallest valid offsets for which d[j] >= least[j]. Jacobian, blocks' order of solution
 * and degrees of freedom stay what they are; only more derivatives are there. Owned by the arena. O(entries) times the
 * largest increase. */
Structure structure_raise(Arena *arena, const Incidence *incidence, const Structure *structure, const int32_t *least);

/* Finds the superfluous differentiations anew where the highest derivatives of the unknowns with needed[j] are variables in their own
 * right, as algebraic ones are: they stand for v in an eliminated v = der(x). Owned by the arena. O(entries). */
void structure_need(Arena *arena, const Incidence *incidence, Structure *structure, const bool *needed);

#endif
