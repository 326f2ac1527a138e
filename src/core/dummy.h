/* dummy: selection of dummy derivatives (Mattsson, Söderlind 1991), with pivoting during the run.
 *
 * The whole choice is one number for each unknown. depth[j] is the number of stages -1, -2, ... at which unknown j is a dummy, that
 * is, solved from differentiated equations. Its columns (j, k) with k < d[j] - depth[j] are states. This representation includes
 * the nesting of the paper's Step 5: candidates of a level are those selected at the level above. Stage -s of a block has the rows
 * with c >= s. Their matrix with respect to the candidates is H; M is a square part of H. H and M are parts of the one block
 * Jacobian d f_i / d x_j^(d_j - c_i), which is the same at every stage (paper, proof of Step 5).
 *
 * The choice is watched by T = M^-1 N, where N are the candidates not chosen. Exchanging a chosen column for another one multiplies
 * |det M| by the entry of T. So the largest entry says how much better the best exchange would be, at the cost of one solve.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "core/block.h"
#include "core/select.h"

/* A block with a choice: at some stage it has fewer rows than candidates but at least one row. */
typedef struct ChoicePlan {
  const BlockShape *shape;
  const double *preference; /* per block column: a larger number means less preferred as a state */
  bool follows_sizes;       /* preferences are in units of the allowed errors; otherwise they are the weights */
} ChoicePlan;

typedef struct DummyPlan {
  uint32_t unknowns, columns, count; /* count: the number of blocks with a choice */
  const int32_t *d;                  /* per unknown: its highest derivative */
  const uint32_t *column_start;      /* per unknown: its place in y */
  const uint32_t *order;             /* the order of unknowns in which states are listed; 0: their own order */
  const int32_t *depth;              /* per unknown, of blocks without a choice */
  const bool *removable; /* per unknown: it is in a removable block (structure.h); 0: no unknown is in one */
  const ChoicePlan *choice;
} DummyPlan;

typedef struct Dummy Dummy;

/* Makes the choice of one run, in the heap. The plan's lists must outlive it. No choice is made yet: states are those of blocks
 * without a choice. */
Dummy *dummy_make(Heap *heap, const DummyPlan *plan, const RowsHost *host);

/* Selects states at a point, by column-pivoted QR of each scaled H. false: the H of *block is rank-deficient there. */
bool dummy_select(Dummy *dummy, double t, const double *y, int32_t *block);

/* Like dummy_select, but holds start values: the larger `held` of a column (0, 1, 2, per column of the array), the more it is
 * preferred as a state. */
bool dummy_select_holding(Dummy *dummy, double t, const double *y, const uint8_t *held, int32_t *block);

/* Examines the present choice at a point. Selects a block again if an exchange would improve some M by more than the threshold.
 * Returns the number of states exchanged (see dummy_exchanges), or -1 if *block is singular for every choice. */
int32_t dummy_watch(Dummy *dummy, double t, const double *y, int32_t *block);

/* The columns of y a little later, by their Taylor series: (j, k) + ahead (j, k + 1) + ... This is accurate enough to examine a
 * choice where the next step will use it, rather than where the last one ended. */
void dummy_look_ahead(uint32_t unknowns, const uint32_t *column_start, const int32_t *d, double ahead, const double *y,
                      double *out);

/* Call this after parameters have changed: everything that depends on parameters only is evaluated again. */
void dummy_set_parameters(Dummy *dummy);

/* Is there anything to choose? */
bool dummy_chooses(const Dummy *dummy);

/* The exchanges of the last dummy_watch: column `out` was a state before, `in` is one now. */
typedef struct Exchange {
  uint32_t out, in;
} Exchange;
const Exchange *dummy_exchanges(const Dummy *dummy);

/* Is this choice possible? Each stage must have as many dummies as rows. depth is per unknown. */
bool dummy_fits(const Dummy *dummy, const int32_t *depth);

/* Restores an earlier choice: depth per unknown. */
void dummy_restore(Dummy *dummy, const int32_t *depth);

/* The choice: depth per unknown, and the links from every state to its derivative column. */
const int32_t *dummy_depth(const Dummy *dummy);
uint32_t dummy_links(const Dummy *dummy, const int32_t **from, const int32_t **to);

/* The largest factor by which one exchange multiplies a determinant at a point, HUGE_VAL if a determinant is 0. The
 * second function: is that factor worth an exchange? */
double dummy_gain(Dummy *dummy, double t, const double *y);
bool dummy_is_exchange(double gain);

/* The matrix M of a stage of the present choice at a point: its rows, the number of candidates, its condition number (NAN if it
 * is large), and its block columns. false: the matrix is undefined there. */
typedef struct DummyStage {
  int32_t rows, candidates;
  double condition;
  const bool *chosen;
} DummyStage;
bool dummy_stage(Dummy *dummy, uint32_t block, int32_t stage, double t, const double *y, DummyStage *found);

/* The number of links that follow the links of the states in the same lists. In a removable block (structure.h) each of
 * them leads from a dummy to the highest derivative, and replaces a superfluous differentiation (paper, section 3). */
uint32_t dummy_removable_links(const Dummy *dummy);
