/* conflict: see conflict.h. */
#include "init/conflict.h"

#include "init/patch.h"
#include "structure/dulmage.h"

#include <math.h>
#include <string.h>

enum { FILTER_MOST = 60, NAMED_MOST = 8, VALUES_MOST = 4 };

Conflict conflict_of_column(const InitialSystem *system, const Order *order, const StepsResult *failure) {
  Heap *heap = system->heap;
  Arena scratch = arena_make(heap);
  Conflict conflict = {.column = failure->column, .wanted = failure->wanted, .residual = failure->disagreement};
  InitialConflict circuit = initial_conflict(&scratch, &order->pattern, &order->choice, (int32_t)failure->column);
  vec_push(heap, &conflict.rows, failure->row);
  for (int32_t k = 0; k < circuit.n_rows; k++)
    if ((uint32_t)circuit.rows[k] != failure->row) vec_push(heap, &conflict.rows, (uint32_t)circuit.rows[k]);
  for (int32_t k = 0; k < circuit.n_columns; k++) vec_push(heap, &conflict.columns, (uint32_t)circuit.columns[k]);
  vec_push(heap, &conflict.columns, failure->column);
  index_sort((int32_t *)conflict.columns.data, (int32_t)conflict.columns.count);
  arena_free(&scratch);
  return conflict;
}

static void add_fixed_of_rows(const InitialSystem *system, const InitialColumn *columns, Conflict *conflict) {
  const Pattern *pattern = &system->pattern;
  for (uint32_t k = 0; k < conflict->rows.count; k++) {
    uint32_t r = conflict->rows.data[k];
    for (int32_t e = pattern->row_start[r]; e < pattern->row_start[r + 1]; e++) {
      uint32_t q = (uint32_t)pattern->column[e];
      bool known = !columns[q].fixed;
      for (uint32_t c = 0; c < conflict->columns.count && !known; c++) known = conflict->columns.data[c] == q;
      if (!known) vec_push(system->heap, &conflict->columns, q);
    }
  }
}

Conflict conflict_of_surplus(const InitialSystem *system, const InitialColumn *columns, uint32_t row, double residual) {
  Arena scratch = arena_make(system->heap);
  Conflict conflict = {.column = MAP_NONE, .wanted = NAN, .residual = residual};
  vec_push(system->heap, &conflict.rows, row);
  Matching matching = matching_maximum(&scratch, &system->pattern);
  Dulmage parts = dulmage_find(&scratch, &system->pattern, &matching);
  for (int32_t k = 0; k < parts.n_over; k++) {
    const DulmageSet *culprit = &parts.over[k].culprit;
    bool inside = false;
    for (int32_t i = 0; i < parts.over[k].all.n_rows; i++) inside |= parts.over[k].all.rows[i] == (int32_t)row;
    for (int32_t i = 0; inside && i < culprit->n_rows; i++)
      if (culprit->rows[i] != (int32_t)row) vec_push(system->heap, &conflict.rows, (uint32_t)culprit->rows[i]);
  }
  add_fixed_of_rows(system, columns, &conflict);
  arena_free(&scratch);
  return conflict;
}

/* ---- from numbers ---- */

/* A few rows of the scaled matrix, dense, with their residuals. */
typedef struct Dense {
  uint32_t rows, columns;
  double *a, *b;
} Dense;

/* Does A s = -b have no solution for the marked rows? Orthogonalizes the rows: a row that depends on earlier ones must have the
 * residual that they imply. */
static bool contradicts(const Dense *dense, const bool *in, Heap *heap) {
  uint32_t n = dense->columns + 1;
  double *basis = heap_array(heap, (size_t)dense->rows * n, sizeof *basis), *v = heap_array(heap, n, sizeof *v),
         worst = 0, size = 0;
  uint32_t rank = 0;
  for (uint32_t i = 0; i < dense->rows; i++) {
    if (!in[i]) continue;
    memcpy(v, dense->a + (size_t)i * dense->columns, dense->columns * sizeof *v);
    v[n - 1] = dense->b[i];
    if (fabs(dense->b[i]) > size) size = fabs(dense->b[i]);
    double before = 0, after = 0;
    for (uint32_t k = 0; k + 1 < n; k++) before += v[k] * v[k];
    for (int again = 0; again < 2; again++) {
      for (uint32_t j = 0; j < rank; j++) {
        double product = 0;
        for (uint32_t k = 0; k + 1 < n; k++) product += v[k] * basis[(size_t)j * n + k];
        for (uint32_t k = 0; k < n; k++) v[k] -= product * basis[(size_t)j * n + k];
      }
    }
    for (uint32_t k = 0; k + 1 < n; k++) after += v[k] * v[k];
    if (after > 1e-12 * (before + 1e-300) && before > 1e-12) {
      for (uint32_t k = 0; k < n; k++) basis[(size_t)rank * n + k] = v[k] / sqrt(after);
      rank++;
    } else if (fabs(v[n - 1]) > worst) {
      worst = fabs(v[n - 1]);
    }
  }
  heap_free_all(heap, basis, v);
  return worst > 1e-3 * size;
}

/* An entry that is zero only by chance at y counts; an entry that is zero because of its parameters does not. */
static double entry_of(const Jacobian *jacobian, int32_t e, const double *values) {
  return values[e] == 0 && !jacobian->is_constant[e] ? 1 : values[e];
}

/* Numbers from 1 on the columns that may move in the rows of the conflict and, separately, its fixed columns. Others get 0. */
static uint32_t number_columns(const InitialSystem *system, const InitialColumn *columns, const Conflict *conflict,
                               uint32_t *number) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < conflict->columns.count; k++) number[conflict->columns.data[k]] = ++count;
  for (uint32_t k = 0; k < conflict->rows.count; k++) {
    uint32_t row = conflict->rows.data[k];
    for (int32_t e = system->pattern.row_start[row]; e < system->pattern.row_start[row + 1]; e++) {
      uint32_t q = (uint32_t)system->pattern.column[e];
      if (!number[q] && !columns[q].fixed) number[q] = ++count;
    }
  }
  return count;
}

/* The members of the conflict: its rows, then its fixed columns. The condition of a fixed column is that it keeps its value. */
static Dense take_dense(const InitialSystem *system, const InitialColumn *columns, Patch *patch, const double *y,
                        const Conflict *conflict) {
  const double *values, *scale = patch_scale(patch), *r = patch_rows(patch);
  const Jacobian *jacobian = patch_jacobian(patch, &values);
  Heap *heap = system->heap;
  uint32_t rows = conflict->rows.count;
  uint32_t *place = heap_array(heap, system->rows, sizeof *place),
           *number = heap_array(heap, system->columns, sizeof *number);
  Dense dense = {.rows = rows + conflict->columns.count, .columns = number_columns(system, columns, conflict, number)};
  dense.a = heap_array(heap, (size_t)dense.rows * dense.columns, sizeof *dense.a);
  dense.b = heap_array(heap, dense.rows, sizeof *dense.b);
  for (uint32_t k = 0; k < rows; k++) place[conflict->rows.data[k]] = k + 1;
  for (uint32_t k = 0; k < rows; k++) dense.b[k] = r[conflict->rows.data[k]] * scale[conflict->rows.data[k]];
  for (uint32_t k = 0; k < conflict->columns.count; k++) dense.a[(size_t)(rows + k) * dense.columns + k] = 1;
  for (uint32_t q = 0; q < system->columns; q++) {
    double size = system->nominal[q] + fabs(y[q]);
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1] && number[q]; e++) {
      int32_t row = jacobian->row_index[e];
      if (place[row])
        dense.a[(size_t)(place[row] - 1) * dense.columns + number[q] - 1] =
            entry_of(jacobian, e, values) * scale[row] * size;
    }
  }
  heap_free(heap, place);
  heap_free(heap, number);
  return dense;
}

/* Does a column that may move occur nonlinearly in the rows of the conflict? */
static bool is_doubtful(const InitialColumn *columns, const Patch *patch, const Conflict *conflict) {
  const double *values;
  const Jacobian *jacobian = patch_jacobian(patch, &values);
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1] && !columns[q].fixed; e++)
      for (uint32_t k = 0; k < conflict->rows.count && !jacobian->is_constant[e]; k++)
        if (conflict->rows.data[k] == (uint32_t)jacobian->row_index[e]) return true;
  return false;
}

/* Keeps the members marked. */
static void keep_marked(IndexVec *members, const bool *in) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < members->count; k++)
    if (in[k]) members->data[kept++] = members->data[k];
  members->count = kept;
}

void conflict_filter(InitialSystem *system, const InitialColumn *columns, double t, const double *y,
                     Conflict *conflict) {
  Heap *heap = system->heap;
  uint32_t worst, rows = conflict->rows.count;
  if (rows + conflict->columns.count > FILTER_MOST) return;
  index_sort((int32_t *)conflict->columns.data, (int32_t)conflict->columns.count);
  Patch *patch = patch_new(system, NULL, 0);
  if (!isfinite(patch_residual(patch, t, y, &worst))) return;
  Dense dense = take_dense(system, columns, patch, y, conflict);
  bool *in = heap_array(heap, dense.rows, sizeof *in);
  for (uint32_t k = 0; k < dense.rows; k++) in[k] = true;
  if (contradicts(&dense, in, heap)) {
    for (uint32_t k = dense.rows; k-- > 1;) {
      in[k] = false;
      in[k] = !contradicts(&dense, in, heap);
    }
    keep_marked(&conflict->rows, in);
    keep_marked(&conflict->columns, in + rows);
    bool named = false;
    for (uint32_t k = 0; k < conflict->columns.count; k++) named |= conflict->columns.data[k] == conflict->column;
    if (!named) conflict->column = MAP_NONE;
  }
  conflict->is_doubtful = is_doubtful(columns, patch, conflict);
  heap_free_all(heap, in, dense.a, dense.b);
}

/* Takes the row with the largest residual, and all rows with a considerable residual that columns connect to it. */
static void take_apart(const InitialSystem *system, const Patch *patch, uint32_t worst, Conflict *conflict) {
  const double *r = patch_rows(patch), *scale = patch_scale(patch);
  Heap *heap = system->heap;
  Arena scratch = arena_make(heap);
  Pattern by_column = pattern_transpose(&scratch, &system->pattern);
  bool *seen = arena_array(&scratch, system->rows, sizeof *seen),
       *visited = arena_array(&scratch, system->columns, sizeof *visited);
  double limit = 1e-4 * fabs(r[worst]) * scale[worst];
  vec_push(heap, &conflict->rows, worst);
  seen[worst] = true;
  for (uint32_t k = 0; k < conflict->rows.count; k++) {
    uint32_t row = conflict->rows.data[k];
    for (int32_t e = system->pattern.row_start[row]; e < system->pattern.row_start[row + 1]; e++) {
      int32_t q = system->pattern.column[e];
      if (visited[q]) continue;
      visited[q] = true;
      for (int32_t f = by_column.row_start[q]; f < by_column.row_start[q + 1]; f++) {
        uint32_t other = (uint32_t)by_column.column[f];
        if (seen[other] || fabs(r[other]) * scale[other] < limit) continue;
        seen[other] = true;
        vec_push(heap, &conflict->rows, other);
      }
    }
  }
  arena_free(&scratch);
}

Conflict conflict_of_point(InitialSystem *system, const InitialColumn *columns, double t, double *y, bool *defined) {
  Conflict conflict = {.column = MAP_NONE, .wanted = NAN};
  Patch *patch = patch_new(system, NULL, 0);
  double *weights = heap_array(system->heap, system->columns, sizeof *weights);
  for (uint32_t q = 0; q < system->columns; q++) weights[q] = columns[q].fixed ? 0 : 1;
  patch_set_weights(patch, weights);
  heap_free(system->heap, weights);
  *defined = patch_solve(patch, t, y).defined;
  uint32_t worst;
  if (!*defined) return conflict;
  patch_residual(patch, t, y, &worst);
  conflict.residual = patch_rows(patch)[worst];
  take_apart(system, patch, worst, &conflict);
  add_fixed_of_rows(system, columns, &conflict);
  return conflict;
}

/* ---- undefined values ---- */

/* The columns that occur in an expression, in the system's heap. */
static IndexVec columns_below(const InitialSystem *system, Expr node) {
  Dag *dag = system->model->dag;
  IndexVec below = {0}, columns = {0};
  dag_below(dag, dag_scratch(dag), &node, 1, &below);
  for (uint32_t k = 0; k < below.count; k++)
    if (dag_op(dag, below.data[k]) == OP_VARIABLE)
      vec_push(system->heap, &columns,
               system->layout.column_start[dag_index(dag, below.data[k])] + dag_order(dag, below.data[k]));
  vec_free(dag_heap(dag), &below);
  return columns;
}

/* "x = 0, y = -1": the columns below a node, and their values. */
static const char *values_below(const InitialSystem *system, Expr node, const double *y, Arena *arena) {
  const char *text = "";
  IndexVec columns = columns_below(system, node);
  for (uint32_t k = 0; k < columns.count && k < VALUES_MOST; k++)
    text = arena_printf(arena, "%s%s%s = %.6g", text, k ? ", " : "", system_column_name(system, columns.data[k], arena),
                        y[columns.data[k]]);
  vec_free(system->heap, &columns);
  return text;
}

static bool blame_rows(InitialSystem *system, const IndexVec *rows, double t, const double *y, Blame *blame) {
  return rows->count && patch_blame(patch_new(system, rows->data, rows->count), t, y, blame);
}

/* Is the column in the row? */
static bool row_has(const InitialSystem *system, uint32_t row, uint32_t q) {
  for (int32_t e = system->pattern.row_start[row]; e < system->pattern.row_start[row + 1]; e++)
    if (system->pattern.column[e] == (int32_t)q) return true;
  return false;
}

/* Sets the column in y to the value that the row gives for it, with the others at their start values. */
static bool take_from_row(InitialSystem *system, const InitialColumn *columns, uint32_t row, uint32_t q, double t,
                          double *y) {
  const uint32_t *positions;
  Patch *patch = patch_new(system, &row, 1);
  uint32_t count = patch_columns(patch, &positions);
  double *weights = heap_array(system->heap, count, sizeof *weights);
  for (uint32_t k = 0; k < count; k++) weights[k] = positions[k] == q;
  patch_set_weights(patch, weights);
  heap_free(system->heap, weights);
  for (uint32_t k = 0; k < system->columns; k++) y[k] = columns[k].start;
  return patch_solve(patch, t, y).solved && y[q] != columns[q].start && column_excess(&columns[q], y[q]) == 0;
}

/* If a column makes the node undefined, and another row gives a value at which the node is defined, sets the column to that value.
 * The model's own equations have priority over the start value of a type. */
static bool move_by_rows(InitialSystem *system, const IndexVec *rows, double t, const IndexVec *below, Expr node,
                         InitialColumn *columns) {
  double *y = heap_array(system->heap, system->columns, sizeof *y);
  bool moved = false;
  for (uint32_t k = 0; k < below->count && !moved; k++) {
    uint32_t q = below->data[k];
    for (uint32_t r = 0; r < system->rows && !moved && !columns[q].fixed; r++) {
      Blame blame;
      moved = row_has(system, r, q) && take_from_row(system, columns, r, q, t, y) &&
              !(blame_rows(system, rows, t, y, &blame) && blame.node == node);
      if (moved) columns[q].start = y[q];
    }
  }
  heap_free(system->heap, y);
  return moved;
}

bool conflict_move_undefined(InitialSystem *system, const IndexVec *rows, double t, const double *y,
                             InitialColumn *columns) {
  Blame blame;
  bool moved = false;
  if (!blame_rows(system, rows, t, y, &blame)) return false;
  IndexVec below = columns_below(system, blame.node);
  moved = move_by_rows(system, rows, t, &below, blame.node, columns);
  for (int given = 0; given < 2 && !moved; given++) {
    for (uint32_t k = 0; k < below.count; k++) {
      InitialColumn *column = &columns[below.data[k]];
      double value = fmin(fmax(system->nominal[below.data[k]], column->min), column->max);
      if (column->fixed || column->given != given || column->start == value) continue;
      column->start = value;
      moved = true;
    }
  }
  vec_free(system->heap, &below);
  return moved;
}

static void report_part(InitialSystem *system, uint32_t row, Expr node, const double *y, const char *reason,
                        Diags *diags) {
  Arena *arena = &diags->arena;
  const char *values = values_below(system, node, y, arena);
  Diag *diag = diag_error(diags, DIAG_INIT_UNDEFINED, system_row_span(system, row),
                          "no consistent initial values found: `%s` is not defined%s%s: %s",
                          system_part_text(system, node, arena), *values ? " at " : "", values, reason);
  diag_note(diags, diag, (Span){0}, "in `%s`", system_row_text(system, row, arena));
  if (*values) diag_note(diags, diag, (Span){0}, "give start values at which it is defined");
}

bool conflict_report_undefined(InitialSystem *system, const IndexVec *rows, double t, const double *y, Diags *diags) {
  Blame blame;
  if (!blame_rows(system, rows, t, y, &blame)) return false;
  report_part(system, rows->data[blame.output], blame.node, y, blame.reason, diags);
  return true;
}

bool conflict_report_quotient(InitialSystem *system, const Quotient *quotient, Diags *diags) {
  report_part(system, quotient->row, quotient->node, quotient->y, "division by zero up to round-off", diags);
  return false;
}

/* ---- the message ---- */

/* The variable whose start value was given, rather than the column that stands for it. */
static const char *given_name(const InitialSystem *system, const InitialColumn *columns, uint32_t q, Arena *arena) {
  const Model *model = system->evaluator->model;
  return columns[q].named == MAP_NONE ? system_column_name(system, q, arena) : model_name(model, columns[q].named);
}

static double given_value(const InitialColumn *columns, uint32_t q, double value) { return columns[q].sign * value; }

static const char *fixed_list(const InitialSystem *system, const InitialColumn *columns, const Conflict *conflict,
                              Arena *arena) {
  const char *text = "";
  for (uint32_t k = 0; k < conflict->columns.count && k < NAMED_MOST; k++) {
    uint32_t q = conflict->columns.data[k];
    text = arena_printf(arena, "%s%s%s = %.10g", text, k ? ", " : "", given_name(system, columns, q, arena),
                        given_value(columns, q, columns[q].start));
  }
  return conflict->columns.count > NAMED_MOST
             ? arena_printf(arena, "%s and %u more", text, conflict->columns.count - NAMED_MOST)
             : text;
}

static void note_members(const InitialSystem *system, const InitialColumn *columns, const Conflict *conflict,
                         Diags *diags, Diag *diag) {
  const Model *model = system->evaluator->model;
  for (uint32_t k = 0; k < conflict->columns.count && k < NAMED_MOST; k++) {
    uint32_t q = conflict->columns.data[k];
    Span span = columns[q].named == MAP_NONE ? (Span){0} : model->variables.data[columns[q].named].span;
    diag_note(diags, diag, span, "%s is fixed at %.10g", given_name(system, columns, q, &diags->arena),
              given_value(columns, q, columns[q].start));
  }
  for (uint32_t k = 1; k < conflict->rows.count && k < NAMED_MOST; k++)
    diag_note(diags, diag, system_row_span(system, conflict->rows.data[k]), "with the equation `%s`",
              system_row_text(system, conflict->rows.data[k], &diags->arena));
  if (conflict->rows.count > NAMED_MOST)
    diag_note(diags, diag, (Span){0}, "and %u more equations", conflict->rows.count - NAMED_MOST);
}

/* Adds a note that no start values help. */
static void note_proof(const InitialSystem *system, const Proof *proof, Diags *diags, Diag *diag) {
  Arena *arena = &diags->arena;
  const char *text = "";
  for (uint32_t k = 0; k < proof->count; k++)
    text = arena_printf(arena, "%s%s%s in [%.4g, %.4g]", text, k ? ", " : "",
                        system_column_name(system, proof->column[k], arena), proof->box[k].low, proof->box[k].high);
  diag_note(diags, diag, (Span){0},
            "proven by interval arithmetic: with the other values as they are there is no solution with %s", text);
}

void conflict_report(const InitialSystem *system, const InitialColumn *columns, const Conflict *conflict,
                     Diags *diags) {
  Arena *arena = &diags->arena;
  const char *fixed = fixed_list(system, columns, conflict, arena);
  const char *row = system_row_text(system, conflict->rows.data[0], arena);
  Span span = system_row_span(system, conflict->rows.data[0]);
  Diag *diag;
  if (conflict->columns.count && conflict->is_doubtful)
    diag = diag_error(
        diags, DIAG_INIT_CONFLICT, span,
        "no consistent initial values found: fixed %s and `%s` could not be satisfied together: residual %.4g", fixed,
        row, conflict->residual);
  else if (conflict->columns.count)
    diag = diag_error(diags, DIAG_INIT_CONFLICT, span,
                      "no consistent initial values: fixed %s contradict%s `%s`: residual %.4g", fixed,
                      conflict->columns.count > 1 ? "" : "s", row, conflict->residual);
  else
    diag = diag_error(
        diags, DIAG_INIT_CONFLICT, span,
        "no consistent initial values found: `%s` could not be satisfied together with the others: residual %.4g", row,
        conflict->residual);
  if (conflict->column != MAP_NONE && isfinite(conflict->wanted))
    diag_note(diags, diag, (Span){0}, "the others require %s = %.10g, which differs by %.4g",
              given_name(system, columns, conflict->column, arena),
              given_value(columns, conflict->column, conflict->wanted),
              given_value(columns, conflict->column, columns[conflict->column].start - conflict->wanted));
  note_members(system, columns, conflict, diags, diag);
  if (conflict->columns.count)
    diag_note(diags, diag, (Span){0}, "remove fixed=true from one of them, or change its value");
  else if (system_row_is_initial(system, conflict->rows.data[0]))
    diag_note(diags, diag, (Span){0}, "remove one of the initial equations");
  else if (conflict->proof.count) note_proof(system, &conflict->proof, diags, diag);
  else diag_note(diags, diag, (Span){0}, "give start values nearer to a solution");
}
