/* dummy: selection of dummy derivatives (Mattsson, Söderlind 1991), pivoted while running.
 *
 * The whole choice is one number an unknown: depth[j] says at how many stages -1, -2, ... unknown j is a dummy, that is
 * solved from differentiated equations; its columns (j, k) with k < d[j] - depth[j] are states. The nesting of the
 * paper's Step 5 (candidates of a level are those selected at the level above) is thereby built in. Stage -s of a block
 * has the rows with c >= s; their matrix H with respect to the candidates, and its square part M, are parts of the one
 * block Jacobian d f_i / d x_j^(d_j - c_i), the same at every stage (paper, proof of Step 5).
 *
 * The choice is watched by T = M^-1 N, N the candidates not chosen: exchanging a chosen for another column multiplies
 * |det M| by the entry of T. So the largest entry says how much better the best exchange would be, at the cost of one
 * solve.
 *
 * Exported solvers carry this as it stands. */
#pragma once

#include "core/block.h"
#include "core/select.h"

/* The most that wishes for states multiply a weight by, in units of what columns may be off by: the errors of states reach the other columns
 * by the matrix that they are chosen by. */
static const double STRONGEST_WISH = 10;

/* A block with a choice: at some stage it has fewer rows than candidates but at least one row. */
typedef struct ChoicePlan {
  const BlockShape *shape;
  const double *wish; /* per block column: how late it is to be a state */
  bool is_bounded;    /* wishes may lead to where the matrix is singular: they go no further than to a bound */
} ChoicePlan;

typedef struct DummyPlan {
  uint32_t unknowns, columns, count; /* count: of the blocks with a choice */
  const int32_t *d;                  /* per unknown: its highest derivative */
  const uint32_t *column_start;      /* per unknown: its place in y */
  const uint32_t *order;             /* in which unknowns their states are listed; 0: as they are */
  const int32_t *depth;              /* per unknown, of blocks without a choice */
  const bool *removable;             /* per unknown: in a removable block (structure.h); 0: none is */
  const ChoicePlan *choice;
} DummyPlan;

typedef struct Dummy Dummy;

/* The choice of one run. The plan's lists must stay. Lives in the heap; none is made yet: states are those of blocks without freedom of
 * choice. */
Dummy *dummy_make(Heap *heap, const DummyPlan *plan, const RowsHost *host);

/* Selects states at a point, by column-pivoted QR of each scaled H. false: the H of *block is rank-deficient there. */
bool dummy_select(Dummy *dummy, double t, const double *y, int32_t *block);

/* The same, but prefers columns with a larger `held` (0, 1, 2, per column of the array) as states: for start values. */
bool dummy_select_holding(Dummy *dummy, double t, const double *y, const uint8_t *held, int32_t *block);

/* Judges the present choice at a point. Where an exchange would improve some M by more than the threshold, that block
 * is selected again. Returns the number of states exchanged (see dummy_exchanges), or -1 when *block is singular for
 * every choice. */
int32_t dummy_watch(Dummy *dummy, double t, const double *y, int32_t *block);

/* Parameters have changed: what depends on them alone is evaluated again. */
void dummy_set_parameters(Dummy *dummy);

/* Is there anything to choose? */
bool dummy_chooses(const Dummy *dummy);

/* The exchanges of the last dummy_watch: column `out` was a state before, `in` is one now. */
typedef struct Exchange {
  uint32_t out, in;
} Exchange;
const Exchange *dummy_exchanges(const Dummy *dummy);

/* Is this a choice that can be made: depth per unknown, as many dummies at each stage as there are rows? */
bool dummy_fits(const Dummy *dummy, const int32_t *depth);

/* Makes a choice that was made before: depth per unknown. */
void dummy_restore(Dummy *dummy, const int32_t *depth);

/* The choice: depth per unknown, and the links from every state to its derivative column. */
const int32_t *dummy_depth(const Dummy *dummy);
uint32_t dummy_links(const Dummy *dummy, const int32_t **from, const int32_t **to);

/* The largest factor by which one exchange multiplies a determinant at a point, HUGE_VAL where one is 0; and is it worth an exchange? */
double dummy_gain(Dummy *dummy, double t, const double *y);
bool dummy_is_exchange(double gain);

/* The matrix M of a stage of the present choice at a point: its rows, of how many candidates, its condition number (NAN where it is large), and
 * which block columns are in it. false: it is not defined there. */
typedef struct DummyStage {
  int32_t rows, candidates;
  double condition;
  const bool *chosen;
} DummyStage;
bool dummy_stage(Dummy *dummy, uint32_t block, int32_t stage, double t, const double *y, DummyStage *found);

/* The number of links that follow those of the states in the same lists. In a removable block (structure.h) each of
 * them leads from a dummy to the highest derivative, and replaces a superfluous differentiation (paper, section 3). */
uint32_t dummy_removable_links(const Dummy *dummy);
