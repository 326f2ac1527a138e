/* state_plan: the insides of a StatePlan, for the files that make, run and write it. */
#pragma once

#include "reduce/statespace.h"
#include "reduce/tangent.h"

/* No unit. */
enum { NONE = -1 };

typedef enum UnitKind { UNIT_EXPLICIT, UNIT_SOLVE } UnitKind;

/* What is known of a unit before any value and choice. */
typedef struct UnitPlan {
  UnitKind kind;
  int32_t block, stage;   /* stage s stands for -s */
  int32_t count;          /* rows; for an explicit unit, columns assigned */
  uint32_t *columns;      /* of an explicit unit: positions in y */
  const Program *program; /* values of the columns, or residuals of the rows */
  /* of UNIT_SOLVE */
  const Program *joint; /* residuals, and matrix entries that moved; NULL if none do */
  int32_t first_entry;  /* of those of `joint`: the stage's own, and before them `entries_below` of lower stages, */
  int32_t entries, entries_below; /* which move with the last correction there */
  const BlockShape *shape;
  const TangentPlan *tangent; /* of the highest stage; NULL: not of that form */
  bool linear;
  bool keeps;    /* large, and no later stage needs its matrix: see solve_with_kept_factors */
  int32_t below; /* unit of the same block that is solved before it; NONE */
  int32_t owner; /* unit whose factors serve: a lower stage with the same rows and columns, or itself */
  int32_t nonzeros;
} UnitPlan;

struct StatePlan {
  Heap *heap;
  ArrayCode *code;
  const Structure *structure;
  VEC(UnitPlan) units;
  uint32_t serving;  /* the first so many units give all that derivatives depend on */
  bool *idle;        /* per block: no derivative depends on its column */
  bool *loose;       /* per block: the states are not told from its columns */
  bool *branching;   /* see state_plan_branching */
  uint32_t branched; /* the first so many units give the columns that are branching */
  bool *given;       /* see state_plan_given */
  bool *spare;       /* see state_plan_spare */
};
