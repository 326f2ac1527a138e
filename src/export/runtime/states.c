/* states: which columns are states, and all others solved from them, stage by stage from the lowest up and block by block:
 * outright where an equation gives its column, linearly where rows are linear, by damped Newton otherwise (Mattsson, Soederlind
 * 1993, Index reduction in differential-algebraic equations using dummy derivatives).
 *
 * The choice is one number an unknown: its depth, the number of stages below the highest derivative at which it is solved
 * for. Its columns below that are states. */
#include "solver.h"

#include <math.h>
#include <string.h>

enum { NEWTON_LIMIT = 60, HALVING_LIMIT = 30 };
static const double NEWTON_QUADRATIC = 1e-8, NEWTON_FLOOR = 1e-14, NEWTON_CONTRACTION = 0.5;

/* An exchange of states happens where it multiplies a determinant by more than this; a new choice favours the present one. */
static const double EXCHANGE = 1.5, KEEP = 1.1;

/* The most that wishes for states multiply a weight by, in units of what columns may be off by: the errors of states reach the other columns
 * by the matrix that they are chosen by. */
static const double STRONGEST_WISH = 10;

/* An importer that does not ask after each step has to exchange states at the latest where the factor is this. */
static const double LATEST_EXCHANGE = 2;

/* A column with a start value to hold should be a state. */
static const double HOLD_WEIGHT[] = {1, 1e-3, 1e-6};

/* ---- links ---- */

void states_link(Solver *solver) {
  const Model *model = solver->model;
  int n = 0;
  for (int k = 0; k < model->unknowns; k++) {
    int j = model->order[k];
    for (int order = 0; order < model->d[j] - solver->depth[j]; order++, n++) {
      solver->from[n] = model->column_start[j] + order;
      solver->to[n] = solver->from[n] + 1;
    }
  }
}

/* ---- matrices of blocks ---- */

static int evaluate_group(Solver *solver, const ModelBlock *block, int c, double t, const double *y) {
  const ModelGroup *group = &block->groups[c];
  if (!group->program) return 0;
  return program_run(solver, group->program, t, y, solver->block_value + block->first_value + group->first);
}

/* What an unknown may be off by, over the tolerance. */
static double allowed_error(const Model *model, int unknown, const double *y) {
  int column = model->column_start[unknown];
  return model->nominal[column] + fabs(y[column]);
}

/* The power that makes the strongest of the block's wishes STRONGEST_WISH times the weakest, if it is more. */
static double wish_power(const Model *model, const ModelBlock *block, const double *y) {
  double least = HUGE_VAL, most = 0;
  for (int p = 0; p < block->size; p++) {
    int j = block->unknown[p];
    if (!model->d[j]) continue;
    double wish = model->weight[j] / allowed_error(model, j, y);
    least = fmin(least, wish);
    most = fmax(most, wish);
  }
  return most > STRONGEST_WISH * least ? log(STRONGEST_WISH) / log(most / least) : 1;
}

/* The weights of the block's columns at a point: wishes, or powers of them. */
static void weigh_columns(Solver *solver, const ModelBlock *block, const double *y) {
  const Model *model = solver->model;
  double power = block->is_bounded ? wish_power(model, block, y) : 1;
  for (int p = 0; p < block->size; p++) {
    int j = block->unknown[p];
    double unit = allowed_error(model, j, y);
    solver->weight[j] = power < 1 ? unit * pow(model->weight[j] / unit, power) : model->weight[j];
  }
}

/* The matrix that states are chosen by, and its weights. */
static int evaluate_block(Solver *solver, const ModelBlock *block, double t, const double *y) {
  for (int c = block->stages; c >= 0; c--)
    if (evaluate_group(solver, block, c, t, y)) return 1;
  weigh_columns(solver, block, y);
  return 0;
}

/* The columns that a unit solves for; place[q]: the position of a column of the block among them, -1 if it is a state. */
static void list_columns(Solver *solver, const ModelUnit *unit) {
  const Model *model = solver->model;
  const ModelBlock *block = &model->block[unit->block];
  int n = 0;
  for (int q = 0; q < block->size; q++) {
    int j = block->unknown[q], d = model->d[j];
    int is_solved = unit->stage == 0 || (d >= unit->stage && solver->depth[j] >= unit->stage);
    solver->place[q] = is_solved ? n : -1;
    if (is_solved) solver->columns[n++] = model->column_start[j] + d - unit->stage;
  }
}

static int factor_unit(Solver *solver, const ModelUnit *unit) {
  const ModelBlock *block = &solver->model->block[unit->block];
  const double *values = solver->block_value + block->first_value;
  int n = unit->count;
  memset(solver->matrix, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int p = 0; p < n; p++)
    for (int e = block->row_start[p]; e < block->row_start[p + 1]; e++)
      if (solver->place[block->column[e]] >= 0) solver->matrix[p + solver->place[block->column[e]] * n] += values[e];
  return lu_factor(n, solver->matrix, solver->pivot);
}

/* ---- solving ---- */

/* Residuals of the unit, and the matrix entries of its stage. */
static int evaluate_unit(Solver *solver, const ModelUnit *unit, double t, const double *y, double *residual) {
  const ModelBlock *block = &solver->model->block[unit->block];
  if (!unit->joint)
    return program_run(solver, unit->program, t, y, residual) || evaluate_group(solver, block, unit->stage, t, y);
  if (program_run(solver, unit->joint, t, y, solver->joint)) return 1;
  memcpy(residual, solver->joint, (size_t)unit->count * sizeof(double));
  memcpy(solver->block_value + block->first_value + unit->first, solver->joint + unit->count,
         (size_t)unit->entries * sizeof(double));
  return 0;
}

/* At a guess. Round-off of the solution before may have left a domain, as that of x^1.5 at 0: then it counts as 0. */
static int evaluate_guess(Solver *solver, const ModelUnit *unit, double t, double *y, double *residual) {
  int has_moved = 0;
  if (!evaluate_unit(solver, unit, t, y, residual)) return 0;
  for (int k = 0; k < unit->count; k++) {
    double *value = &y[solver->columns[k]];
    if (*value == 0 || fabs(*value) > NEWTON_FLOOR * solver->model->nominal[solver->columns[k]]) continue;
    *value = 0;
    has_moved = 1;
  }
  return has_moved ? evaluate_unit(solver, unit, t, y, residual) : 1;
}

static double correction_norm(const Solver *solver, int count, const double *y) {
  double norm = 0;
  for (int k = 0; k < count; k++) {
    int q = solver->columns[k];
    double size = fabs(solver->correction[k]) / (fabs(y[q]) + solver->model->nominal[q]);
    if (!(size <= norm)) norm = size;
  }
  return norm;
}

static double sum_squares(const double *values, int count) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += values[k] * values[k];
  return sum;
}

static void apply_correction(const Solver *solver, int count, double fraction, double *y) {
  for (int k = 0; k < count; k++) y[solver->columns[k]] = solver->trial[k] - fraction * solver->correction[k];
}

/* From 0, not from the values of before: then the solution is the same to the last bit however it is come to, and an importer may take
 * differences of it. */
static SolverStatus solve_linear(Solver *solver, const ModelUnit *unit, double t, double *y) {
  for (int k = 0; k < unit->count; k++) y[solver->columns[k]] = 0;
  if (evaluate_unit(solver, unit, t, y, solver->correction) || factor_unit(solver, unit)) return SOLVER_DOMAIN;
  lu_solve(unit->count, solver->matrix, solver->pivot, solver->correction);
  for (int k = 0; k < unit->count; k++) y[solver->columns[k]] = -solver->correction[k];
  return SOLVER_OK;
}

/* Halves the correction until the residual is defined and does not grow. */
static SolverStatus search_line(Solver *solver, const ModelUnit *unit, double t, double *y, double before) {
  double fraction = 1;
  for (int k = 0; k < HALVING_LIMIT; k++, fraction /= 2) {
    apply_correction(solver, unit->count, fraction, y);
    if (evaluate_unit(solver, unit, t, y, solver->residual)) continue;
    if (sum_squares(solver->residual, unit->count) <= before * (1 - fraction / 2) || before == 0) return SOLVER_OK;
  }
  return SOLVER_DOMAIN;
}

static SolverStatus solve_newton(Solver *solver, const ModelUnit *unit, double t, double *y, int is_following) {
  double last = 0;
  if (evaluate_guess(solver, unit, t, y, solver->residual)) return SOLVER_DOMAIN;
  for (int iteration = 0; iteration < NEWTON_LIMIT; iteration++) {
    double before = sum_squares(solver->residual, unit->count);
    memcpy(solver->correction, solver->residual, (size_t)unit->count * sizeof(double));
    if (factor_unit(solver, unit)) return SOLVER_DOMAIN;
    lu_solve(unit->count, solver->matrix, solver->pivot, solver->correction);
    for (int k = 0; k < unit->count; k++) solver->trial[k] = y[solver->columns[k]];
    double norm = correction_norm(solver, unit->count, y);
    if (!isfinite(norm)) return SOLVER_DOMAIN;
    int is_quadratic = norm <= NEWTON_QUADRATIC && (last == 0 || norm <= 0.1 * last);
    if (norm <= NEWTON_FLOOR || is_quadratic) {
      apply_correction(solver, unit->count, 1, y);
      return SOLVER_OK;
    }
    if (norm < 1e-12 && last > 0 && norm > 0.1 * last) return SOLVER_OK; /* round-off of the residual */
    if (is_following && last > 0 && norm > NEWTON_CONTRACTION * last) break;
    last = norm;
    if (is_following) {
      apply_correction(solver, unit->count, 1, y);
      if (evaluate_unit(solver, unit, t, y, solver->residual)) return SOLVER_DOMAIN;
    } else if (search_line(solver, unit, t, y, before) != SOLVER_OK) return SOLVER_DOMAIN;
  }
  return SOLVER_DOMAIN;
}

static SolverStatus assign(Solver *solver, const ModelUnit *unit, double t, double *y) {
  if (program_run(solver, unit->program, t, y, solver->joint)) return SOLVER_DOMAIN;
  for (int k = 0; k < unit->count; k++) y[unit->columns[k]] = solver->joint[k];
  return SOLVER_OK;
}

SolverStatus states_solve(Solver *solver, double t, double *y, int is_following) {
  for (int u = 0; u < solver->model->units; u++) {
    const ModelUnit *unit = &solver->model->unit[u];
    SolverStatus status;
    if (unit->block >= 0) list_columns(solver, unit);
    if (unit->block < 0) status = assign(solver, unit, t, y);
    else if (unit->is_linear) status = solve_linear(solver, unit, t, y);
    else status = solve_newton(solver, unit, t, y, is_following);
    if (status != SOLVER_OK) return status;
  }
  return SOLVER_OK;
}

/* ---- the choice of states ---- */

static int list_candidates(Solver *solver, const ModelBlock *block, const int *depth, int s) {
  int count = 0;
  for (int p = 0; p < block->size; p++) {
    int j = block->unknown[p];
    if (solver->model->d[j] >= s && (s == 1 || depth[j] >= s - 1)) solver->candidates[count++] = p;
  }
  return count;
}

static double column_weight(const Solver *solver, int j, int s, const unsigned char *held) {
  int order = solver->model->d[j] - s;
  return solver->weight[j] * (held && order >= 0 ? HOLD_WEIGHT[held[solver->model->column_start[j] + order]] : 1);
}

/* The rows of stage s against the columns with a place, as a dense matrix: rows scaled to largest entry 1, columns by their weight;
 * those that are dummies now by `keep` besides. */
static void fill_stage(Solver *solver, const ModelBlock *block, int s, const unsigned char *held, double keep) {
  const double *values = solver->block_value + block->first_value;
  int rows = block->stage_rows[s];
  for (int i = 0; i < rows; i++) {
    double largest = 0;
    for (int e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
      int q = block->column[e];
      double size = fabs(values[e]) * column_weight(solver, block->unknown[q], s, held);
      if (solver->place[q] >= 0 && size > largest) largest = size;
    }
    for (int e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
      int q = block->column[e], j = block->unknown[q];
      double weight = column_weight(solver, j, s, held) * (solver->depth[j] >= s ? keep : 1);
      if (solver->place[q] >= 0)
        solver->matrix[i + solver->place[q] * rows] += values[e] * weight / (largest > 0 ? largest : 1);
    }
  }
}

static void clear_stage(Solver *solver, const ModelBlock *block, int s, int candidates) {
  for (int q = 0; q < block->size; q++) solver->place[q] = -1;
  memset(solver->matrix, 0, (size_t)block->stage_rows[s] * (size_t)candidates * sizeof(double));
}

/* Chooses the dummies of a block at every stage, into `proposed`. Returns 1 where a matrix is singular for every choice. */
static int select_block(Solver *solver, const ModelBlock *block, const unsigned char *held, double keep) {
  for (int p = 0; p < block->size; p++) solver->proposed[block->unknown[p]] = 0;
  for (int s = 1; s <= block->stages; s++) {
    int rows = block->stage_rows[s], count = list_candidates(solver, block, solver->proposed, s);
    if (!rows) continue;
    if (rows > count) return 1;
    clear_stage(solver, block, s, count);
    for (int c = 0; c < count; c++) solver->place[solver->candidates[c]] = c;
    fill_stage(solver, block, s, held, keep);
    if (select_columns(rows, count, solver->matrix, solver->queue)) return 1;
    for (int k = 0; k < rows; k++) solver->proposed[block->unknown[solver->candidates[solver->queue[k]]]] = s;
  }
  return 0;
}

/* The largest factor by which one exchange multiplies a determinant. */
static double block_gain(Solver *solver, const ModelBlock *block) {
  double gain = 0;
  for (int s = 1; s <= block->stages; s++) {
    int rows = block->stage_rows[s], count = list_candidates(solver, block, solver->depth, s), next = 0;
    if (!rows || rows == count) continue;
    clear_stage(solver, block, s, count);
    for (int is_state = 0; is_state < 2; is_state++)
      for (int c = 0; c < count; c++)
        if ((solver->depth[block->unknown[solver->candidates[c]]] < s) == is_state)
          solver->place[solver->candidates[c]] = next++;
    fill_stage(solver, block, s, 0, 1);
    if (lu_factor(rows, solver->matrix, solver->pivot)) return HUGE_VAL;
    for (int c = rows; c < count; c++) {
      double *column = solver->matrix + c * rows;
      lu_solve(rows, solver->matrix, solver->pivot, column);
      for (int i = 0; i < rows; i++)
        if (!(fabs(column[i]) <= gain)) gain = fabs(column[i]);
    }
  }
  return isfinite(gain) ? gain : HUGE_VAL;
}

static int accept_block(Solver *solver, const ModelBlock *block) {
  int changed = 0;
  for (int p = 0; p < block->size; p++) {
    int j = block->unknown[p];
    changed += solver->depth[j] != solver->proposed[j];
    solver->depth[j] = solver->proposed[j];
  }
  return changed;
}

int states_select(Solver *solver, double t, const double *y, const unsigned char *held) {
  const Model *model = solver->model;
  for (int b = 0; b < model->blocks; b++) {
    if (!model->block[b].is_choice) continue;
    if (evaluate_block(solver, &model->block[b], t, y) || select_block(solver, &model->block[b], held, 1)) return 1;
    accept_block(solver, &model->block[b]);
  }
  states_link(solver);
  return 0;
}

/* Exchanges states for columns that serve better at (t, y). Returns how many unknowns changed, or -1 where a block is singular. */
int states_exchange(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  int changed = 0;
  for (int b = 0; b < model->blocks; b++) {
    const ModelBlock *block = &model->block[b];
    if (!block->is_choice || evaluate_block(solver, block, t, y) || block_gain(solver, block) <= EXCHANGE) continue;
    if (select_block(solver, block, 0, KEEP)) return -1;
    changed += accept_block(solver, block);
  }
  if (changed) states_link(solver);
  return changed;
}

static double largest_gain(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  double gain = 0;
  for (int b = 0; b < model->blocks; b++) {
    const ModelBlock *block = &model->block[b];
    if (block->is_choice && !evaluate_block(solver, block, t, y)) gain = fmax(gain, block_gain(solver, block));
  }
  return gain;
}

int states_wants_exchange(Solver *solver, double t, const double *y) { return largest_gain(solver, t, y) > EXCHANGE; }

/* How far the choice is from being one that has to change, at most 1; negative where it has. */
double states_indicator(Solver *solver, double t, const double *y) {
  double gain = largest_gain(solver, t, y);
  return isfinite(gain) ? (LATEST_EXCHANGE - gain) / (LATEST_EXCHANGE + gain) : -1;
}
