/* array: see array.h. Rows are differentiated lazily on the shared graph: row (i, l + 1) is the memoized time
 * derivative of row (i, l). */
#include "array/array.h"

Array array_make(const Problem *problem, const int32_t *c, const int32_t *d, Arena *arena) {
  Array array = {.problem = problem, .dag = problem->model->dag, .c = c, .d = d};
  uint32_t n = problem->equations, m = problem->unknowns;
  array.row_start = arena_array(arena, (size_t)n + 1, sizeof(uint32_t));
  array.column_start = arena_array(arena, (size_t)m + 1, sizeof(uint32_t));
  for (uint32_t i = 0; i < n; i++) array.row_start[i + 1] = array.row_start[i] + (uint32_t)c[i] + 1;
  for (uint32_t j = 0; j < m; j++) array.column_start[j + 1] = array.column_start[j] + (uint32_t)d[j] + 1;
  array.rows = array.row_start[n];
  array.columns = array.column_start[m];
  array.row_equation = arena_array(arena, array.rows, sizeof(uint32_t));
  array.column_unknown = arena_array(arena, array.columns, sizeof(uint32_t));
  array.row = arena_array(arena, array.rows, sizeof(Expr));
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t r = array.row_start[i]; r < array.row_start[i + 1]; r++) {
      array.row_equation[r] = i;
      array.row[r] = r == array.row_start[i] ? problem->residual[i] : EXPR_NONE;
    }
  }
  uint32_t unknowns = problem->model->unknowns.count;
  array.model_column = arena_array(arena, unknowns, sizeof(uint32_t));
  for (uint32_t u = 0; u < unknowns; u++) {
    uint32_t j = problem->local[u];
    array.model_column[u] = j == MAP_NONE ? MAP_NONE : array.column_start[j];
  }
  for (uint32_t j = 0; j < m; j++)
    for (uint32_t q = array.column_start[j]; q < array.column_start[j + 1]; q++) array.column_unknown[q] = j;
  return array;
}

Array *array_layer(const Array *array, Model *own, Arena *arena) {
  Problem *problem = arena_alloc(arena, sizeof *problem);
  Array *layered = arena_alloc(arena, sizeof *layered);
  *problem = *array->problem;
  problem->model = own;
  *layered = *array;
  layered->problem = problem;
  layered->dag = own->dag;
  return layered;
}

Expr array_row(Array *array, uint32_t row) {
  uint32_t made = row;
  while (array->row[made] == EXPR_NONE) made--; /* level 0 is always there */
  for (; made < row; made++) array->row[made + 1] = dag_time_derivative(array->dag, array->row[made]);
  return array->row[row];
}

uint32_t array_level(const Array *array, uint32_t row) { return row - array->row_start[array->row_equation[row]]; }

uint32_t array_order(const Array *array, uint32_t column) {
  return column - array->column_start[array->column_unknown[column]];
}

bool array_is_highest(const Array *array, uint32_t column) {
  return column + 1 == array->column_start[array->column_unknown[column] + 1];
}

uint32_t array_column(const Array *array, Expr leaf) {
  return array->model_column[dag_index(array->dag, leaf)] + dag_order(array->dag, leaf);
}

bool array_holds(const Array *array, Expr e) {
  ExprVec leaves = {0};
  DagScratch *scratch = dag_scratch(array->dag);
  bool holds = true;
  dag_variables(array->dag, scratch, e, &leaves);
  for (uint32_t v = 0; v < leaves.count && holds; v++) {
    uint32_t j = array->problem->local[dag_index(array->dag, leaves.data[v])];
    holds = j != MAP_NONE && (int32_t)dag_order(array->dag, leaves.data[v]) <= array->d[j];
  }
  vec_free(scratch->heap, &leaves);
  return holds;
}

uint32_t array_find_column(const Array *array, Expr leaf) {
  uint32_t first = array->model_column[dag_index(array->dag, leaf)];
  if (first == MAP_NONE) return MAP_NONE;
  uint32_t column = first + dag_order(array->dag, leaf);
  bool is_there = column < array->columns && array->column_unknown[column] == array->column_unknown[first];
  return is_there ? column : MAP_NONE;
}

const char *array_column_name(const Array *array, uint32_t column, Arena *arena) {
  const Model *model = array->problem->model;
  uint32_t unknown = array->problem->unknown[array->column_unknown[column]];
  const char *text = model_name(model, model->unknowns.data[unknown]);
  for (uint32_t k = array_order(array, column); k > 0; k--) text = arena_printf(arena, "der(%s)", text);
  return text;
}

void array_list_columns(const Array *array, const bool *marked, Arena *arena, TextVec *text) {
  enum { SHOWN = 12 };
  uint32_t count = 0;
  for (uint32_t q = 0; q < array->columns; q++)
    if (marked[q] && count++ < SHOWN)
      text_printf(arena->heap, text, "%s%s", count > 1 ? ", " : "", array_column_name(array, q, arena));
  if (count > SHOWN) text_printf(arena->heap, text, ", and %u more", count - SHOWN);
}

const char *array_row_text(const Array *array, Model *own, uint32_t row, Arena *arena) {
  Equation equation = own->equations.data[array->problem->equation[array->row_equation[row]]];
  for (uint32_t l = array_level(array, row); l > 0; l--) {
    equation.left = dag_time_derivative(own->dag, equation.left);
    equation.right = dag_time_derivative(own->dag, equation.right);
  }
  return model_equation_text(own, &equation, arena);
}

uint32_t array_variable_column(const Array *array, uint32_t unknown) {
  const Problem *problem = array->problem;
  const Aliases *aliases = &problem->aliases;
  uint32_t root = aliases->removed ? aliases->root[unknown] : unknown;
  if (root == UINT32_MAX || array->model_column[root] == MAP_NONE) return MAP_NONE;
  uint32_t column = array->model_column[root] + (aliases->removed ? aliases->shift[unknown] : 0);
  return column < array->column_start[problem->local[root] + 1] ? column : MAP_NONE;
}

static const Equation *row_equation(const Array *array, uint32_t row) {
  const Problem *problem = array->problem;
  return &problem->model->equations.data[problem->equation[array->row_equation[row]]];
}

Span array_row_span(const Array *array, uint32_t row) { return row_equation(array, row)->span; }

bool array_row_is_added(const Array *array, uint32_t row) { return row_equation(array, row)->is_added; }

Pattern array_pattern(Array *array, Arena *arena) {
  Heap *heap = arena->heap;
  int32_t *start = arena_array(arena, (size_t)array->rows + 1, sizeof *start);
  ExprVec leaves = {0};
  IntVec column = {0};
  for (uint32_t r = 0; r < array->rows; r++) {
    leaves.count = 0;
    dag_variables(array->dag, dag_scratch(array->dag), array_row(array, r), &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) vec_push(heap, &column, (int32_t)array_column(array, leaves.data[k]));
    start[r + 1] = (int32_t)column.count;
  }
  int32_t *columns = arena_copy_array(arena, column.data, column.count, sizeof *columns);
  vec_free(heap, &leaves, &column);
  return (Pattern){(int32_t)array->rows, (int32_t)array->columns, start, columns};
}
