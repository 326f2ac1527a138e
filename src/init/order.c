/* order: see order.h. */
#include "init/order.h"

/* Among columns of equal rank, the columns of lower stages are kept. So constraints are satisfied by the columns of their own
 * stage, and hidden constraints do not move columns that satisfy them (Estévez Schwarz 2010, Theorem 4.3). */
enum {
  PREFER_FIXED = 1 << 30,
  PREFER_GIVEN = 1 << 29,
  PREFER_LOW = 1 << 28,
  PREFER_PARAMETER = 50,
  PREFER_GUESS = 2,
  PREFER_STAGE = 64,
};

static int32_t preference(const InitialSystem *system, const InitialColumn *columns, uint32_t q) {
  const InitialColumn *column = &columns[q];
  const Array *array = system->array;
  if (q >= array->columns) return column->fixed ? PREFER_FIXED : PREFER_PARAMETER;
  int32_t order = (int32_t)array_order(array, q);
  if (column->fixed) return PREFER_FIXED - (order > 3 ? 3 : order);
  if (!column->low) return column->given ? PREFER_GUESS : 0;
  const Model *model = system->evaluator->model;
  uint32_t position = model->unknowns.data[array->problem->unknown[array->column_unknown[q]]];
  int32_t select = 10 * (int32_t)model->variables.data[position].select;
  return (column->given ? PREFER_GIVEN : PREFER_LOW) - PREFER_STAGE * system->column_stage[q] + select -
         (order > 3 ? 3 : order);
}

/* Rows of the array come first: an initial equation that then finds no column is one too many. */
static void find_surplus(const InitialSystem *system, const Pattern *pattern, Order *order, Arena *arena) {
  Arena scratch = arena_make(arena->heap);
  int32_t n = (int32_t)system->rows;
  Matching matching = matching_empty(&scratch, n, (int32_t)system->columns);
  Matcher matcher = matcher_make(&scratch, pattern, &matching);
  int32_t *rows = index_zeros(&scratch, n), own = (int32_t)system->array->rows;
  for (int32_t r = 0; r < n; r++) rows[r] = r;
  matcher_grow(&matcher, rows, own, true);
  matcher_grow(&matcher, rows + own, n - own, true);
  for (int32_t r = own; r < n; r++)
    if (matching.column_of_row[r] == STRUCTURE_NONE) vec_push(arena->heap, &order->surplus, (uint32_t)r);
  arena_free(&scratch);
}

/* The pattern with the surplus rows emptied. */
static void drop_surplus(const Pattern *all, Order *order, Arena *arena) {
  order->pattern = *all;
  if (!order->surplus.count) return;
  int32_t *start = index_zeros(arena, all->n_rows + 1), *column = index_zeros(arena, all->row_start[all->n_rows]),
          next = 0;
  for (int32_t r = 0, s = 0; r < all->n_rows; r++) {
    bool dropped = s < (int32_t)order->surplus.count && order->surplus.data[s] == (uint32_t)r;
    for (int32_t e = all->row_start[r]; e < all->row_start[r + 1] && !dropped; e++) column[next++] = all->column[e];
    s += dropped;
    start[r + 1] = next;
  }
  order->pattern.row_start = start;
  order->pattern.column = column;
}

Order order_make(const InitialSystem *system, const Pattern *pattern, const InitialColumn *columns, Arena *arena) {
  Order order = {0};
  if (system->rows > system->array->rows) find_surplus(system, pattern, &order, arena);
  drop_surplus(pattern, &order, arena);
  int32_t *preferences = index_zeros(arena, (int32_t)system->columns);
  for (uint32_t q = 0; q < system->columns; q++) preferences[q] = preference(system, columns, q);
  order.choice = initial_choose(arena, &order.pattern, preferences);
  for (uint32_t q = 0; q < system->columns; q++)
    if (columns[q].fixed && !order.choice.given[q]) vec_push(arena->heap, &order.redundant, q);
  return order;
}

bool order_may_move(const InitialSystem *system, const InitialColumn *columns, const Order *order, uint32_t row,
                    uint32_t column) {
  return order->choice.given[column] && !columns[column].fixed &&
         system->column_stage[column] == system->row_stage[row];
}

typedef struct OrderEdge {
  int32_t from, to;
} OrderEdge;
typedef VEC(OrderEdge) TieVec;

/* Joins a row with all rows of its stage with which it shares columns of that stage, so that they form one block. If one row moves
 * a start value, the others move it together with that row. */
static void tie_stage(const InitialSystem *system, const InitialColumn *columns, const Order *order,
                      const Pattern *by_column, int32_t first, bool *tied, TieVec *ties, Arena *scratch) {
  const Pattern *pattern = &order->pattern;
  int32_t stage = system->row_stage[first];
  IntVec rows = {0};
  tied[first] = true;
  vec_push(scratch->heap, &rows, first);
  for (uint32_t k = 0; k < rows.count; k++) {
    for (int32_t e = pattern->row_start[rows.data[k]]; e < pattern->row_start[rows.data[k] + 1]; e++) {
      int32_t q = pattern->column[e];
      if (system->column_stage[q] != stage || columns[q].fixed) continue;
      for (int32_t f = by_column->row_start[q]; f < by_column->row_start[q + 1]; f++) {
        int32_t r = by_column->column[f];
        if (tied[r] || system->row_stage[r] != stage) continue;
        tied[r] = true;
        vec_push(scratch->heap, &rows, r);
        vec_push(scratch->heap, ties, (OrderEdge){first, r});
        vec_push(scratch->heap, ties, (OrderEdge){r, first});
      }
    }
  }
  vec_free(scratch->heap, &rows);
}

/* Connects rows that may move a column to the rows that they are linked with. */
static void tie_rows(const InitialSystem *system, const InitialColumn *columns, const Order *order, int32_t *mover,
                     TieVec *ties, Arena *scratch) {
  Pattern by_column = pattern_transpose(scratch, &order->pattern);
  bool *tied = arena_array(scratch, system->rows, sizeof *tied);
  for (uint32_t q = 0; q < system->columns; q++) {
    for (int32_t e = by_column.row_start[q]; e < by_column.row_start[q + 1]; e++) {
      int32_t r = by_column.column[e];
      if (!order_may_move(system, columns, order, (uint32_t)r, q)) continue;
      mover[q] = r;
      if (!tied[r]) tie_stage(system, columns, order, &by_column, r, tied, ties, scratch);
    }
  }
}

/* Rows against rows: row r uses the column that row s determines or moves. Rows without a column are left out. */
static Pattern row_graph(const Order *order, const int32_t *mover, const TieVec *ties, const int32_t *place,
                         const int32_t *row, int32_t n, Arena *arena) {
  const Pattern *pattern = &order->pattern;
  int32_t *start = index_zeros(arena, n + 1);
  for (uint32_t k = 0; k < ties->count; k++) start[place[ties->data[k].from] + 1]++;
  for (int32_t p = 0; p < n; p++)
    start[p + 1] += start[p] + pattern->row_start[row[p] + 1] - pattern->row_start[row[p]];
  int32_t *column = index_zeros(arena, start[n]), *fill = index_zeros(arena, n);
  for (int32_t p = 0; p < n; p++) {
    for (int32_t e = pattern->row_start[row[p]]; e < pattern->row_start[row[p] + 1]; e++) {
      int32_t q = pattern->column[e], other = order->choice.matching.row_of_column[q];
      if (other == STRUCTURE_NONE) other = mover[q];
      column[start[p] + fill[p]++] = other == STRUCTURE_NONE ? p : place[other];
    }
  }
  for (uint32_t k = 0; k < ties->count; k++) {
    int32_t p = place[ties->data[k].from];
    column[start[p] + fill[p]++] = place[ties->data[k].to];
  }
  return (Pattern){n, n, start, column};
}

Blocks order_units(const InitialSystem *system, const InitialColumn *columns, const Order *order, bool nearest,
                   Arena *arena) {
  const int32_t *column_of_row = order->choice.matching.column_of_row;
  Arena scratch = arena_make(arena->heap);
  int32_t *place = index_nones(&scratch, (int32_t)system->rows), *row = index_zeros(&scratch, (int32_t)system->rows),
          n = 0;
  for (uint32_t r = 0; r < system->rows; r++) {
    if (column_of_row[r] == STRUCTURE_NONE) continue;
    place[r] = n;
    row[n++] = (int32_t)r;
  }
  TieVec ties = {0};
  int32_t *mover = index_nones(&scratch, (int32_t)system->columns);
  if (nearest) tie_rows(system, columns, order, mover, &ties, &scratch);
  Pattern graph = row_graph(order, mover, &ties, place, row, n, &scratch);
  Matching diagonal = matching_empty(&scratch, n, n);
  for (int32_t p = 0; p < n; p++) diagonal.column_of_row[p] = diagonal.row_of_column[p] = p;
  diagonal.size = n;
  Blocks units = blocks_find(arena, &graph, &diagonal);
  for (int32_t p = 0; p < n; p++) {
    units.row[p] = row[units.row[p]];
    units.column[p] = column_of_row[units.row[p]];
  }
  vec_free(arena->heap, &ties);
  arena_free(&scratch);
  return units;
}

/* ---- dependencies of rows ---- */

typedef struct Upstream {
  const InitialSystem *system;
  const InitialColumn *columns;
  const Order *order;
  Blocks units;
  int32_t *unit_of_row;
  Pattern by_column;
  bool *reached; /* per unit */
  IntVec found;  /* units */
} Upstream;

static void reach(Upstream *upstream, int32_t row) {
  int32_t unit = upstream->unit_of_row[row];
  if (unit == STRUCTURE_NONE || upstream->reached[unit]) return;
  upstream->reached[unit] = true;
  vec_push(upstream->system->heap, &upstream->found, unit);
}

/* Visits the row that determines a column, or those that may move it. */
static void reach_column(Upstream *upstream, int32_t q) {
  int32_t matched = upstream->order->choice.matching.row_of_column[q];
  if (matched != STRUCTURE_NONE) {
    reach(upstream, matched);
    return;
  }
  for (int32_t e = upstream->by_column.row_start[q]; e < upstream->by_column.row_start[q + 1]; e++) {
    int32_t row = upstream->by_column.column[e];
    if (order_may_move(upstream->system, upstream->columns, upstream->order, (uint32_t)row, (uint32_t)q))
      reach(upstream, row);
  }
}

static Upstream upstream_make(const InitialSystem *system, const InitialColumn *columns, const Order *order,
                              Arena *scratch) {
  Upstream upstream = {.system = system, .columns = columns, .order = order};
  const Blocks *units = &upstream.units;
  upstream.units = order_units(system, columns, order, true, scratch);
  upstream.unit_of_row = index_nones(scratch, (int32_t)system->rows);
  upstream.by_column = pattern_transpose(scratch, &order->pattern);
  upstream.reached = arena_array(scratch, (size_t)units->n_blocks, sizeof(bool));
  for (int32_t b = 0; b < units->n_blocks; b++)
    for (int32_t p = units->start[b]; p < units->start[b + 1]; p++) upstream.unit_of_row[units->row[p]] = b;
  return upstream;
}

IndexVec order_upstream(const InitialSystem *system, const InitialColumn *columns, const Order *order,
                        const IndexVec *rows) {
  Arena scratch = arena_make(system->heap);
  Upstream upstream = upstream_make(system, columns, order, &scratch);
  const Pattern *pattern = &order->pattern;
  IndexVec all = {0};
  for (uint32_t k = 0; k < rows->count; k++) reach(&upstream, (int32_t)rows->data[k]);
  for (uint32_t k = 0; k < upstream.found.count; k++) {
    int32_t unit = upstream.found.data[k];
    for (int32_t p = upstream.units.start[unit]; p < upstream.units.start[unit + 1]; p++) {
      int32_t row = upstream.units.row[p];
      vec_push(system->heap, &all, (uint32_t)row);
      for (int32_t e = pattern->row_start[row]; e < pattern->row_start[row + 1]; e++)
        reach_column(&upstream, pattern->column[e]);
    }
  }
  vec_free(system->heap, &upstream.found);
  arena_free(&scratch);
  return all;
}
