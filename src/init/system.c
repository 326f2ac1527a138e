/* system: see system.h. */
#include "init/codes.h"

#include "code/dependents.h"

#include <math.h>
#include <string.h>

/* ---- offsets large enough for the initial equations ---- */

/* The highest derivative of each unknown in the initial equations; returns whether one is beyond the array. */
static bool needs_more(const Array *array, const ExprVec *equations, int32_t *needed, Heap *heap) {
  Dag *dag = array->dag;
  ExprVec leaves = {0};
  bool more = false;
  for (uint32_t i = 0; i < equations->count; i++) {
    leaves.count = 0;
    dag_variables(dag, dag_scratch(dag), equations->data[i], &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t j = array->problem->local[dag_index(dag, leaves.data[k])];
      int32_t order = (int32_t)dag_order(dag, leaves.data[k]);
      if (order > needed[j]) needed[j] = order;
      more |= order > array->d[j];
    }
  }
  vec_free(heap, &leaves);
  return more;
}

/* Differentiates a block and, from the last block to the first, those that it depends on, until the needed derivatives are
 * included. Offsets stay valid: c and d of a block grow by the same number; those of an earlier block grow by as much
 * as a later block requires. */
static Array *extend_array(InitialSystem *system, const Structure *structure, const int32_t *needed) {
  const Problem *problem = system->array->problem;
  const Incidence *incidence = &problem->incidence;
  Arena *arena = &system->arena;
  Blocks coarse = structure_coarse(arena, incidence, structure), *blocks = &coarse;
  int32_t *c = arena_array(arena, problem->equations, sizeof *c), *d = arena_array(arena, problem->unknowns, sizeof *d);
  int32_t *extra = arena_array(arena, (size_t)blocks->n_blocks, sizeof *extra);
  for (uint32_t j = 0; j < problem->unknowns; j++) {
    int32_t b = blocks->block_of_column[j], more = needed[j] - structure->d[j];
    if (more > extra[b]) extra[b] = more;
  }
  for (int32_t b = blocks->n_blocks - 1; b >= 0; b--) {
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
      int32_t i = blocks->row[p];
      for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
        int32_t j = incidence->column[e], a = blocks->block_of_column[j];
        int32_t more = incidence->order[e] + structure->c[i] + extra[b] - structure->d[j];
        if (a != b && more > extra[a]) extra[a] = more;
      }
    }
  }
  for (uint32_t i = 0; i < problem->equations; i++) c[i] = structure->c[i] + extra[blocks->block_of_row[i]];
  for (uint32_t j = 0; j < problem->unknowns; j++) d[j] = structure->d[j] + extra[blocks->block_of_column[j]];
  Array *array = arena_alloc(arena, sizeof *array);
  *array = array_make(problem, c, d, arena);
  return array;
}

/* ---- parameters with fixed = false ---- */

static bool is_free(const Variable *variable) {
  return variable_is_sought(variable) && variable->type == TYPE_REAL && variable->variability == VARIABILITY_PARAMETER;
}

static void find_parameters(InitialSystem *system) {
  Model *model = system->model;
  Heap *heap = system->heap;
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (is_free(&model->variables.data[model->parameters.data[p]])) vec_push(heap, &system->parameters, p);
  dependents_find(system->evaluator, heap, &system->parameters, &system->dependents);
}

/* Substitutes the columns of free parameters, and the bindings of those that depend on them, in the rows. */
static void put_parameters(InitialSystem *system) {
  Model *model = system->model;
  Dag *dag = model->dag;
  ExprVec from = {0}, to = {0};
  for (uint32_t k = 0; k < system->parameters.count; k++) {
    vec_push(system->heap, &from, dag_parameter(dag, system->parameters.data[k]));
    vec_push(system->heap, &to, dag_variable(dag, model->unknowns.count + k, 0));
  }
  for (uint32_t k = 0; k < system->dependents.count; k++) {
    uint32_t p = system->dependents.data[k];
    Expr value = model->variables.data[model->parameters.data[p]].binding;
    dag_substitute(dag, from.data, to.data, from.count, &value, 1);
    vec_push(system->heap, &from, dag_parameter(dag, p));
    vec_push(system->heap, &to, value);
  }
  if (from.count) dag_substitute(dag, from.data, to.data, from.count, system->row, system->rows);
  vec_free(system->heap, &from, &to);
}

/* ---- making ---- */

static void fill_layout(InitialSystem *system, uint32_t extra) {
  const Array *array = system->array;
  uint32_t unknowns = system->evaluator->model->unknowns.count;
  uint32_t *start = arena_array(&system->arena, (size_t)unknowns + extra, sizeof *start);
  if (unknowns) memcpy(start, array->model_column, unknowns * sizeof *start);
  for (uint32_t k = 0; k < extra; k++) start[unknowns + k] = array->columns + k;
  system->columns = array->columns + extra;
  system->layout = (Layout){unknowns + extra, system->columns, start};
}

/* Without other information, the start value of a parameter gives its unit. */
static double parameter_nominal(const InitialSystem *system, uint32_t p) {
  const Model *model = system->model;
  const Variable *variable = &model->variables.data[model->parameters.data[p]];
  const Expr said[] = {variable->nominal, variable->start};
  for (int k = 0; k < 2; k++) {
    double value = 0;
    if (said[k] == EXPR_NONE || !evaluator_constant(system->evaluator, said[k], &value)) continue;
    if (value != 0 && isfinite(value)) return fabs(value);
  }
  return 1;
}

static void fill_columns(InitialSystem *system) {
  const Array *array = system->array, *own = system->evaluator->array;
  system->nominal = arena_array(&system->arena, system->columns, sizeof(double));
  system->column_stage = arena_array(&system->arena, system->columns, sizeof(int32_t));
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t j = array->column_unknown[q];
    system->nominal[q] = system->evaluator->nominal[own->column_start[j]];
    system->column_stage[q] = (int32_t)array_order(array, q) - array->d[j];
  }
  for (uint32_t q = array->columns; q < system->columns; q++) {
    uint32_t k = q - array->columns;
    system->nominal[q] = k < system->parameters.count ? parameter_nominal(system, system->parameters.data[k]) : 1;
    system->column_stage[q] = INT32_MIN;
  }
}

static void fill_pattern(InitialSystem *system) {
  Dag *dag = system->array->dag;
  Heap *heap = system->heap;
  int32_t *start = arena_array(&system->arena, (size_t)system->rows + 1, sizeof *start);
  system->row_stage = arena_array(&system->arena, system->rows, sizeof(int32_t));
  ExprVec leaves = {0};
  IntVec column = {0};
  for (uint32_t r = 0; r < system->rows; r++) {
    leaves.count = 0;
    dag_variables(dag, dag_scratch(dag), system->row[r], &leaves);
    int32_t highest = INT32_MIN;
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t q = system->layout.column_start[dag_index(dag, leaves.data[k])] + dag_order(dag, leaves.data[k]);
      vec_push(heap, &column, (int32_t)q);
      if (system->column_stage[q] > highest) highest = system->column_stage[q];
    }
    start[r + 1] = (int32_t)column.count;
    if (r < system->array->rows)
      highest = (int32_t)array_level(system->array, r) - system->array->c[system->array->row_equation[r]];
    system->row_stage[r] = highest;
  }
  int32_t *columns = arena_copy_array(&system->arena, column.data, column.count, sizeof *columns);
  system->pattern = (Pattern){(int32_t)system->rows, (int32_t)system->columns, start, columns};
  vec_free(heap, &leaves, &column);
}

static void take_rows(InitialSystem *system, const ExprVec *equations) {
  Array *array = system->array;
  system->rows = array->rows + equations->count;
  system->row = arena_array(&system->arena, system->rows, sizeof(Expr));
  for (uint32_t r = 0; r < array->rows; r++) system->row[r] = array_row(array, r);
  for (uint32_t i = 0; i < equations->count; i++) system->row[array->rows + i] = equations->data[i];
  if (system->is_start) logic_put_start(array->problem->logic, array->dag, system->heap, system->row, system->rows);
}

InitialSystem *system_new(Heap *heap, Evaluator *evaluator, const Structure *structure, bool with_equations) {
  InitialSystem *system = heap_alloc(heap, sizeof *system);
  Model *model = evaluator_model(evaluator);
  system->heap = heap;
  system->arena = arena_make(heap);
  system->evaluator = evaluator;
  system->model = model;
  system->array = array_layer(evaluator->array, model, &system->arena);
  system->homotopy = MAP_NONE;
  system->is_start = with_equations && evaluator->past;
  ExprVec equations = {0};
  if (with_equations) {
    const Problem *problem = system->array->problem;
    for (uint32_t i = 0; i < model->initial_equations.count; i++) {
      if (problem->logic->is_initial_step[i]) continue;
      vec_push(heap, &equations, problem->logic->initial_residual[i]);
      vec_push(heap, &system->initial, i);
    }
    int32_t *needed = arena_array(&system->arena, system->array->problem->unknowns, sizeof *needed);
    system->is_extended = needs_more(system->array, &equations, needed, heap);
    if (system->is_extended) system->array = extend_array(system, structure, needed);
    find_parameters(system);
  }
  take_rows(system, &equations);
  put_parameters(system);
  fill_layout(system, system->parameters.count);
  fill_columns(system);
  fill_pattern(system);
  vec_free(heap, &equations);
  return system;
}

bool system_is_plain(const InitialSystem *system) {
  return !system->is_extended && !system->is_start && system->rows == system->array->rows &&
         system->columns == system->array->columns;
}

/* ---- continuation from the simplified to the actual expressions ---- */

static void list_homotopies(InitialSystem *system, IndexVec *below, ExprVec *nodes) {
  Dag *dag = system->array->dag;
  dag_below(dag, dag_scratch(dag), system->row, system->rows, below);
  for (uint32_t k = 0; k < below->count; k++)
    if (dag_op(dag, below->data[k]) == OP_HOMOTOPY) vec_push(system->heap, nodes, below->data[k]);
}

InitialSystem *system_continued(InitialSystem *system) {
  Dag *dag = system->array->dag;
  Heap *heap = system->heap;
  IndexVec below = {0};
  ExprVec nodes = {0}, values = {0};
  list_homotopies(system, &below, &nodes);
  vec_free(heap, &below);
  InitialSystem *continued = NULL;
  if (nodes.count) {
    continued = heap_alloc(heap, sizeof *continued);
    *continued = *system;
    continued->arena = arena_make(heap);
    continued->program = NULL;
    continued->known = continued->collected = NULL; /* the continued system has other rows */
    continued->row = arena_copy_array(&continued->arena, system->row, system->rows, sizeof(Expr));
    Expr lambda = dag_variable(dag, system->layout.unknowns, 0);
    for (uint32_t k = 0; k < nodes.count; k++) { /* inner ones come first, and are substituted in the outer ones */
      Expr part[2] = {dag_child(dag, nodes.data[k], 0), dag_child(dag, nodes.data[k], 1)};
      dag_substitute(dag, nodes.data, values.data, k, part, 2);
      Expr difference = dag_subtract(dag, part[0], part[1]);
      Expr moved = dag_multiply(dag, lambda, difference);
      vec_push(heap, &values, dag_add(dag, part[1], moved));
    }
    dag_substitute(dag, nodes.data, values.data, nodes.count, continued->row, continued->rows);
    fill_layout(continued, system->parameters.count + 1);
    continued->homotopy = continued->columns - 1;
    fill_columns(continued);
    fill_pattern(continued);
  }
  vec_free(heap, &nodes, &values);
  return continued;
}

/* ---- use ---- */

Point system_point(const InitialSystem *system, double t, const double *y) {
  return evaluator_point(system->evaluator, t, y);
}

void system_compile(InitialSystem *system) {
  if (system->program) return;
  Evaluator *evaluator = system->evaluator;
  if (system_is_plain(system)) {
    system->program = evaluator->rows;
    system->jacobian = evaluator->jacobian;
    system->entries = evaluator->entries;
    return;
  }
  Heap *heap = system->heap;
  InitialCode code = codes_take(system, NULL, system->rows);
  system->program = workspace_new(heap, code.program);
  system->jacobian = code.jacobian;
  system->entries = workspace_new(heap, code.jacobian->program);
}

Expr system_leaf(const InitialSystem *system, uint32_t q) {
  const Array *array = system->array;
  if (q >= array->columns)
    return dag_variable(array->dag, system->evaluator->model->unknowns.count + q - array->columns, 0);
  return dag_variable(array->dag, array->problem->unknown[array->column_unknown[q]], array_order(array, q));
}

uint32_t system_column(const InitialSystem *system, uint32_t column) {
  const Array *own = system->evaluator->array;
  return system->array->column_start[own->column_unknown[column]] + array_order(own, column);
}

void system_store(const InitialSystem *system, const double *y, double *columns) {
  Evaluator *evaluator = system->evaluator;
  for (uint32_t q = 0; q < evaluator->array->columns; q++) columns[q] = y[system_column(system, q)];
  for (uint32_t k = 0; k < system->parameters.count; k++)
    evaluator->parameters[system->parameters.data[k]] = y[system->array->columns + k];
  dependents_set(evaluator, &system->dependents);
}

bool system_row_is_initial(const InitialSystem *system, uint32_t row) { return row >= system->array->rows; }

const char *system_row_text(const InitialSystem *system, uint32_t row, Arena *arena) {
  Model *model = system->model;
  if (!system_row_is_initial(system, row)) return array_row_text(system->array, model, row, arena);
  uint32_t equation = system->initial.data[row - system->array->rows];
  return model_equation_text(model, &model->initial_equations.data[equation], arena);
}

const char *system_part_text(const InitialSystem *system, Expr part, Arena *arena) {
  Dag *dag = system->model->dag;
  for (uint32_t k = 0; k < system->parameters.count; k++) {
    Expr leaf = dag_variable(dag, system->model->unknowns.count + k, 0);
    Expr parameter = dag_parameter(dag, system->parameters.data[k]);
    dag_substitute(dag, &leaf, &parameter, 1, &part, 1);
  }
  return model_text(system->model, part, arena);
}

Span system_row_span(const InitialSystem *system, uint32_t row) {
  if (!system_row_is_initial(system, row)) return array_row_span(system->array, row);
  uint32_t equation = system->initial.data[row - system->array->rows];
  return system->evaluator->model->initial_equations.data[equation].span;
}

const char *system_column_name(const InitialSystem *system, uint32_t column, Arena *arena) {
  const Model *model = system->model;
  if (column < system->array->columns) return array_column_name(system->array, column, arena);
  return model_name(model, model->parameters.data[system->parameters.data[column - system->array->columns]]);
}
