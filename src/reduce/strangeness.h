/* strangeness: the strangeness-free system by numerical ranks (Kunkel, Mehrmann 2003, Hypothesis 1).
 *
 * Let x be the columns below the first derivative (for an unknown that occurs with order o: its derivatives 0 .. max(o, 1) -
 * 1) and w the columns above. Ranks of the array's Jacobian at a consistent point give the number a of constraints on only
 * x: a = rank [F_x F_w] - rank F_w. mu is the first level at which one more differentiation finds no more constraints.
 *
 * The array is the reduced derivative array (15) if structural analysis says how often each equation must be differentiated and
 * the ranks confirm it. Otherwise it is uniform: every equation is differentiated mu + 1 times, without
 * the rows that are not needed to determine x and x'.
 *
 * Invariant of a selection: it has as many rows of the array as the rank. These rows determine equally many columns: a
 * columns of x, and columns of w, among them x'. The other columns of x are the states. The remaining columns of w have no
 * influence on x and are held. A reduced array has no such columns. */
#pragma once

#include "array/freedom.h"
#include "code/switches.h"
#include "reduce/dense.h"
#include "reduce/rank_parts.h"
#include "reduce/reduction.h"

/* The most columns of dense matrices that decide ranks, and the most differentiations. */
enum { STRANGENESS_COLUMNS = 800, STRANGENESS_LEVELS = 8 };

/* The singular values that decided a rank. */
typedef struct SingularValues {
  double *value; /* descending */
  int32_t count, rank;
} SingularValues;

/* The treatment of an unknown that nothing determines. */
typedef enum FreeChoice {
  FREE_NEAREST, /* the unknown and other free unknowns stay near their start values (freedom.h), */
  FREE_SLOWEST, /* or the highest derivative of the unknown stays near 0, */
  FREE_HELD,    /* or the unknown is held at its value at the start */
} FreeChoice;

typedef struct FreeUnknown {
  uint32_t unknown; /* of the model */
  FreeChoice choice;
  double value; /* the value at which it is held */
} FreeUnknown;

typedef struct Strangeness {
  Heap *heap;
  Arena *arena;
  Diags *diags;
  /* given */
  Problem problem; /* the equations as written */
  const double *parameters;
  const double *start;   /* start values per variable of the model, NAN for the model's own; NULL for none */
  const Modes *modes;    /* modes of relations; set in the evaluators made */
  double rank_tolerance; /* singular values that are smaller relative to the largest count as zero */
  ArrayRun known;        /* the point from which other methods start; y NULL: there is none */
  /* made */
  Array *array;
  ArrayCode *code;
  RankParts
      parts; /* parts of the array's Jacobian: connected components, or the coarse blocks if the array is reduced */
  Evaluator *evaluator;
  Switches *switches;      /* switches of a uniform array, while its point is searched for; NULL: nothing is discrete */
  double *discrete_starts; /* values before the initial event, for a uniform array, per discrete variable */
  bool is_isolated;        /* structural analysis is right near the initial point, but not at it */
  bool reduced;            /* the array has structural offsets */
  bool staged;             /* states are exchanged only within their stage */
  bool shrunk;             /* the array is uniform, without its unneeded parts */
  int32_t *first;          /* per unknown: number of its columns in x */
  /* the characteristic values; x has `size` columns; the equations leave u of them free, and added equations hold these */
  int32_t mu, size, a, d, v, u;
  uint32_t *open; /* unknowns of the uniform array that nothing determines, u of them */
  FreeUnknown *free;
  uint32_t free_count;
  SingularValues all, high; /* singular values of [F_x F_w] and of F_w, if these were found */
  int32_t solved;           /* columns of x that constraints determine, with the equations added */
  double *y;                /* the consistent point */
  /* the selection */
  int32_t *row; /* per row of the array: its number among the rows used, -1 if it follows from them */
  int32_t rows;
  bool *held; /* per column */
  int32_t *from, *to;
  int32_t links;
} Strangeness;

/* The requested rank tolerance, or the default. */
double strangeness_tolerance(const MethodOptions *options);

/* Replaces the selected rows, columns and links by copies in the heap. */
void strangeness_copy_selection(Strangeness *strangeness, Heap *heap);

/* A copy of the selection for a run, with a separate evaluator at the same values. Lives in the heap. */
Strangeness strangeness_run(const Strangeness *strangeness, Heap *heap, Arena *arena, Diags *diags);

/* Is the column in x? The second function: is it one derivative above the columns in x of the same unknown? */
bool strangeness_is_x(const Strangeness *strangeness, uint32_t column);
bool strangeness_is_rate(const Strangeness *strangeness, uint32_t column);

/* The value of a derivative of an unknown at the known point; NAN if there is none. */
double strangeness_known(const Strangeness *strangeness, uint32_t unknown, uint32_t order);

/* Is every part of a matrix small enough for dense methods? false: an error is in diags, unless that is NULL. */
bool strangeness_fits(const Strangeness *strangeness, const RankParts *parts, Diags *diags);

/* The entries of the Jacobian at (t, y). Entries that are only round-off become zero; otherwise they would count in
 * a rank, or make a column huge. */
bool strangeness_entries(const Strangeness *strangeness, double t, const double *y, double *values);

/* The Jacobian at (t, y), dense in its parts, with columns scaled by weight and rows to largest entry 1 (their
 * factors in `scale`). */
bool strangeness_jacobian(const Strangeness *strangeness, const RankParts *parts, double t, const double *y,
                          const double *weight, double *a, double *scale);

/* The array for these offsets, which must outlive it, with the values known so far. */
void strangeness_make_array(Strangeness *strangeness, double t, const int32_t *c, const int32_t *d);

/* Moves strangeness->y to a consistent point nearby by the Gauss-Newton method. Fixed start values are held; so are given start
 * values and the values of the known point, if possible. false: an error is in diags, unless they may not move. */
bool strangeness_find_point(Strangeness *strangeness, double t, bool may_move);

/* Finds mu, a, u and a consistent point by the uniform array, which it makes: every equation differentiated mu + 1 times. false: an
 * error is in diags. */
bool strangeness_find_level(Strangeness *strangeness, double t);

/* Moves the columns of x slightly, so that nothing is zero by chance. */
void strangeness_perturb(const Strangeness *strangeness, double *y);

/* Which point near a given point is used. NEAREST: the consistent point nearest to the moved point. FIXED: one with the fixed
 * variables at their moved values. BRANCH: near a consistent point, a point on the same branch of the solutions. */
typedef enum Generic { GENERIC_NEAREST, GENERIC_FIXED, GENERIC_BRANCH } Generic;

/* Moves (t, y) to a consistent point nearby at which nothing is zero by chance. false: none was found. */
bool strangeness_generic(const Strangeness *strangeness, Generic generic, double *t, double *y);

/* Sets the columns of w that x does not determine to the values of least norm; x stays unchanged, and so does y if that fails. */
void strangeness_refresh(const Strangeness *strangeness, double t, double *y);

/* Ranks of a part at a consistent point. */
typedef struct PartRanks {
  const RankPart *part;
  double *matrix;           /* the Jacobian, rows and columns scaled */
  double *scale, *factor;   /* scales of the rows; of the columns over their nominal values */
  int32_t all, high;        /* ranks of [F_x F_w], F_w */
  const double *values;     /* singular values of the first matrix; those of the second one are in w */
  int32_t *x_list, *w_list; /* columns of the part */
  int32_t x_count, w_count;
  Svd w; /* of F_w */
} PartRanks;

/* The ranks of all parts, and their sums. */
typedef struct Ranks {
  uint32_t count;
  PartRanks *part;
  int32_t all, high, w_count;
} Ranks;

/* Decides the ranks by singular values. false: the Jacobian cannot be evaluated. Owned by the arena. */
bool strangeness_ranks(const Strangeness *strangeness, double t, const double *y, Arena *arena, Ranks *ranks);

/* The number of constraints on x from the rows of levels 0 .. level. */
int32_t strangeness_constraints(const Strangeness *strangeness, const Ranks *ranks, int32_t level);

/* The highest level of a row that some constraint on x needs. Requires full ranks. */
int32_t strangeness_constraint_level(const Strangeness *strangeness, const Ranks *ranks, double t, const double *y);

/* Independent unknowns whose first derivative the equations do not determine; returns their number. */
int32_t strangeness_open(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, uint32_t *unknowns);

/* Do the rows determine w and the columns of x whose derivative the array does not have? */
bool strangeness_determines_last(const Strangeness *strangeness, const Ranks *ranks, Arena *arena);

/* The rows that determine x and its first derivatives: the support of all combinations of independent rows without higher
 * derivatives. needed[rows] is unique if no equation depends on others. */
void strangeness_needed(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, bool *needed);

/* Selects again at a consistent point. false: the ranks there differ from those at the beginning. */
bool strangeness_select(Strangeness *strangeness, double t, const double *y);

/* Among the derivatives of these orders of the marked unknowns: the leaves at which null vectors of d F / d (leaves) at (t, y)
 * have entries. Leaves of order 0 should stay near their start values, derivatives near 0. false: there are none. Owned by the
 * arena. */
bool freedom_find(const Strangeness *strangeness, double t, const double *y, const int32_t *order, const bool *is_leaf,
                  Freedom *freedom, Arena *arena);
