/* differentiate: see differentiate.h. */
#include "init/differentiate.h"

#include "base/linear.h"
#include "init/order.h"

#include <math.h>
#include <string.h>

static const double KEPT = 1e-7; /* relative: a start value that moved by less counts as held */

struct StartDerivative {
  InitialSystem *system;
  const StartCode *code;
  double *leaf_values, *entries, *right;
  int32_t *place;  /* per row: equation of the square system; -1: left out */
  int32_t *number; /* per column: its number in the square system; -1: it holds its start value */
  Linear *linear;
};

static bool holds(const Matching *matching, uint32_t q) { return matching->row_of_column[q] == STRUCTURE_NONE; }

/* Did every column that counts as held stay where it started? */
static bool check_held(const InitialSystem *system, const Initial *initial, const Matching *matching, Diags *diags) {
  for (uint32_t q = 0; q < system->columns; q++) {
    const InitialColumn *column = &initial->column[q];
    double moved = fabs(initial->value[q] - column->start);
    bool is_far = !(moved <= KEPT * (system->nominal[q] + fabs(column->start)));
    if (!is_far || !(holds(matching, q) || column->fixed)) continue;
    diag_error(diags, DIAG_INIT, (Span){0},
               "sensitivities need initial values that the model determines: the start value of %s is a guess that "
               "moves from %.10g to %.10g; fix start values, or give initial equations",
               system_column_name(system, q, &diags->arena), column->start, initial->value[q]);
    return false;
  }
  return true;
}

/* The rows that determine columns, against those columns. */
static bool factor(StartDerivative *derivative, const Matching *matching) {
  const InitialSystem *system = derivative->system;
  const Jacobian *jacobian = derivative->code->jacobian;
  Heap *heap = system->heap;
  int32_t n = 0, next = 0, column = 0;
  for (uint32_t r = 0; r < system->rows; r++)
    derivative->place[r] = matching->column_of_row[r] == STRUCTURE_NONE ? -1 : n++;
  int32_t *start = heap_array(heap, (size_t)n + 1, sizeof *start),
          *row = heap_array(heap, jacobian->nonzeros, sizeof *row);
  double *values = heap_array(heap, jacobian->nonzeros, sizeof *values);
  for (uint32_t q = 0; q < system->columns; q++) {
    derivative->number[q] = holds(matching, q) ? -1 : column++;
    if (derivative->number[q] < 0) continue;
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      if (derivative->place[jacobian->row_index[e]] < 0) continue;
      row[next] = derivative->place[jacobian->row_index[e]];
      values[next++] = derivative->entries[e];
    }
    start[column] = next;
  }
  derivative->linear = linear_new(heap, n, (int32_t)jacobian->nonzeros, false);
  linear_set_pattern(derivative->linear, start, row);
  return column == n && linear_factor(derivative->linear, values);
}

static void evaluate(StartDerivative *derivative, const Initial *initial) {
  const StartCode *code = derivative->code;
  Heap *heap = derivative->system->heap;
  Point point = system_point(derivative->system, initial->t0, initial->value);
  derivative->entries = heap_array(heap, code->jacobian->nonzeros, sizeof(double));
  derivative->leaf_values = heap_array(heap, code->leaves->entries, sizeof(double));
  workspace_run(workspace_new(heap, code->jacobian->program), &point, derivative->entries);
  if (code->leaves->program) workspace_run(workspace_new(heap, code->leaves->program), &point, derivative->leaf_values);
}

StartCode *start_code_new(Heap *heap, InitialSystem *system, StartLeaves varied) {
  StartCode *code = heap_alloc(heap, sizeof *code);
  Dag *dag = system->model->dag;
  uint32_t parameters = varied.parameter_count, discretes = varied.discrete_count, count = parameters + 2 * discretes;
  Expr *leaves = heap_array(heap, count, sizeof *leaves);
  for (uint32_t k = 0; k < parameters; k++) leaves[k] = dag_parameter(dag, varied.parameters[k]);
  for (uint32_t k = 0; k < discretes; k++) {
    leaves[parameters + k] = dag_discrete(dag, varied.discretes[k]);
    leaves[parameters + discretes + k] = dag_pre(dag, varied.discretes[k]);
  }
  system_compile(system);
  *code = (StartCode){
      .varied = varied,
      .rows = system->rows,
      .columns = system->columns,
      .jacobian = system->jacobian,
      .leaves = leaf_jacobian_new(heap, system->model, &system->layout, system->row, system->rows, leaves, count)};
  heap_free(heap, leaves);
  return code;
}

/* If parameters that initialization determines, or parameters bound to them, are overridden, the rows are different. */
static bool serves(const StartCode *code, const InitialSystem *system) {
  return code->jacobian && !system->parameters.count && code->rows == system->rows && code->columns == system->columns;
}

StartDerivative *start_derivative_new(Initializer *initializer, const Initial *initial, const StartCode *code,
                                      Diags *diags) {
  Heap *heap = initializer->heap;
  StartDerivative *derivative = heap_alloc(heap, sizeof *derivative);
  if (!initial->system && !initializer->system)
    initializer->system = system_new(heap, initializer->evaluator, initializer->structure, true);
  InitialSystem *system = derivative->system = initial->system ? initial->system : initializer->system;
  Arena scratch = arena_make(heap);
  derivative->code = serves(code, system) ? code : start_code_new(heap, system, code->varied);
  derivative->place = heap_array(heap, system->rows, sizeof(int32_t));
  derivative->number = heap_array(heap, system->columns, sizeof(int32_t));
  derivative->right = heap_array(heap, 2 * (size_t)system->rows, sizeof(double));
  evaluate(derivative, initial);
  Order order = order_make(system, &system->pattern, initial->column, &scratch);
  bool ok = check_held(system, initial, &order.choice.matching, diags);
  if (ok && !factor(derivative, &order.choice.matching)) {
    ok = false;
    diag_error(diags, DIAG_INIT, (Span){0}, "the initial values are not differentiable: their Jacobian is singular");
  }
  vec_free(heap, &order.surplus, &order.redundant);
  arena_free(&scratch);
  return ok ? derivative : NULL;
}

const InitialSystem *start_derivative_system(const StartDerivative *derivative) { return derivative->system; }

void start_derivative_apply(StartDerivative *derivative, const StartChange *change, double *columns) {
  const InitialSystem *system = derivative->system;
  const Jacobian *jacobian = derivative->code->jacobian;
  double *all = derivative->right, *right = all + system->rows;
  memset(all, 0, 2 * (size_t)system->rows * sizeof *all);
  uint32_t parameters = derivative->code->varied.parameter_count;
  for (uint32_t k = 0; k < derivative->code->leaves->leaves; k++) {
    double move = k < parameters ? change->parameter[k] : change->discrete[k - parameters];
    leaf_jacobian_add(derivative->code->leaves, k, derivative->leaf_values, move, all);
  }
  for (uint32_t q = 0; q < system->columns; q++) {
    if (derivative->number[q] >= 0) continue;
    columns[q] = change->column[q];
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1] && columns[q] != 0; e++)
      all[jacobian->row_index[e]] += derivative->entries[e] * columns[q];
  }
  for (uint32_t r = 0; r < system->rows; r++)
    if (derivative->place[r] >= 0) right[derivative->place[r]] = -all[r];
  linear_solve(derivative->linear, right);
  for (uint32_t q = 0; q < system->columns; q++)
    if (derivative->number[q] >= 0) columns[q] = right[derivative->number[q]];
}
