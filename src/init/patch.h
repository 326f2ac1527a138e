/* patch: some rows of the initial system, solved for some of their columns: at least as many as rows.
 *
 * The columns are the unknowns of nonlinear.h. A solution with columns that diverged counts only if the rows hold compared with
 * their terms (terms.h). */
#pragma once

#include "init/codes.h"
#include "nonlinear/nonlinear.h"

typedef struct Patch Patch;

/* A patch of `count` rows of the system; NULL rows: all of them, with the system's own program. Lives in the
 * heap. */
Patch *patch_new(InitialSystem *system, const uint32_t *rows, uint32_t count);

/* The columns that occur in the rows: positions in y. */
uint32_t patch_columns(const Patch *patch, const uint32_t **columns);

/* Weight per column of the patch. */
void patch_set_weights(Patch *patch, const double *weights);

typedef NonlinearResult PatchResult;

/* Short steps: each moves a column by no more than part of its size. They leave flat places, and find solutions near by. */
void patch_set_careful(Patch *patch, bool careful);

/* Sets discrete values for each point (t, y) at which the rows are evaluated: equations with conditions as written. false: they are
 * undefined there. */
typedef struct PatchFollower {
  bool (*follow)(void *context, double t, const double *y); /* y: per column of the system */
  void *context;
} PatchFollower;

/* NULL: they do not change, which is the default. */
void patch_set_follower(Patch *patch, const PatchFollower *follower);

/* Solves from y, in place; after a failure y is where the rows are best satisfied. */
PatchResult patch_solve(Patch *patch, double t, double *y);

/* Corrects y, which is near a solution, by Newton's method alone. */
PatchResult patch_correct(Patch *patch, double t, double *y);

/* Moves a solution y along the solutions to a local minimum of its distance to `origin`, per column of the patch. */
void patch_approach(Patch *patch, double t, const double *origin, double *y, PatchResult *result);

/* Solves by continuation in the guess: the residual at the guess is removed gradually (Newton homotopy). */
PatchResult patch_continue(Patch *patch, double t, double *y);

/* Follows the solutions from y until the column at this position of y has the value `goal`, past turning points. */
PatchResult patch_trace(Patch *patch, double t, uint32_t position, double goal, double *y);

/* Largest scaled residual at y: |row| over the largest |d row / d column| * (nominal + |column|). HUGE_VAL
 * if undefined. *worst: its row among the patch's. */
double patch_residual(Patch *patch, double t, const double *y, uint32_t *worst);

/* Finds a row that is undefined at y, and the reason. If there is none, finds a row with an undefined derivative. blame->output:
 * the position of the row in the patch. false: all rows and derivatives are defined. */
bool patch_blame(Patch *patch, double t, const double *y, Blame *blame);

/* The program of the rows; NULL if it has all rows. */
const Program *patch_program(const Patch *patch);

/* The values of the rows, and the scaled matrix entries by columns, after patch_residual or a solve. */
const double *patch_rows(const Patch *patch);
const double *patch_scale(const Patch *patch);
const Jacobian *patch_jacobian(const Patch *patch, const double **values);
