/* orders: see orders.h. */
#include "export/orders.h"

#include "base/linear.h"
#include "code/cdata.h"

/* Matrices of models with more unknowns are sparse; so all systems of a model are alike. */
enum { LARGEST_DENSE = 120 };

/* Times as many entries as estimated are made room for: other pivots make more of them. */
enum { ROOM = 4 };

/* The entries of a matrix, column after column. */
typedef struct Entries {
  Heap *heap;
  VEC(int32_t) start, row;
} Entries;

static Entries begin_entries(Heap *heap) {
  Entries entries = {.heap = heap};
  vec_push(heap, &entries.start, 0);
  return entries;
}

static void add_entry(Entries *entries, int32_t row) { vec_push(entries->heap, &entries->row, row); }

static void end_column(Entries *entries) { vec_push(entries->heap, &entries->start, (int32_t)entries->row.count); }

static void add_column(Entries *entries, const Jacobian *jacobian, uint32_t q) {
  for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
    add_entry(entries, jacobian->row_index[e]);
}

static void put_order(Arena *arena, const char *name, bool is_dense, Entries *entries, TextVec *out) {
  Heap *heap = entries->heap;
  uint32_t n = entries->start.count - 1;
  int32_t *columns = arena_array(arena, n, sizeof *columns), *rows = arena_array(arena, n, sizeof *rows);
  if (n && !is_dense) {
    double room = linear_pivot_order(heap, (int32_t)n, entries->start.data, entries->row.data, columns, rows);
    cdata_integers(heap, out, "static ", arena_printf(arena, "%s_columns", name), columns, n);
    cdata_integers(heap, out, "static ", arena_printf(arena, "%s_rows", name), rows, n);
    text_printf(heap, out, "#define ORDER_%s {%u, %.0f, %s_columns, %s_rows}\n\n", name, n,
                ROOM * (room + entries->row.count), name, name);
  } else text_printf(heap, out, "#define ORDER_%s {0, 0, 0, 0}\n\n", name);
  vec_free(heap, &entries->start, &entries->row);
}

/* All rows, and for each state the link from it to its derivative. */
static Entries whole_entries(Heap *heap, Arena *arena, const ExportSource *source) {
  const Array *array = source->evaluator->array;
  const uint32_t *order = export_state_order(arena, source);
  int32_t *link = arena_array(arena, array->columns, sizeof *link), next = (int32_t)array->rows;
  Entries entries = begin_entries(heap);
  for (uint32_t k = 0; k < array->problem->unknowns; k++)
    for (int32_t level = 0; level < array->d[order[k]] - dummy_depth(source->dummy)[order[k]]; level++)
      link[array->column_start[order[k]] + (uint32_t)level] = next++;
  for (uint32_t q = 0; q < array->columns; q++) {
    add_column(&entries, source->evaluator->jacobian, q);
    bool follows = q > array->column_start[array->column_unknown[q]];
    if (follows && link[q - 1]) add_entry(&entries, link[q - 1]);
    if (link[q]) add_entry(&entries, link[q]);
    end_column(&entries);
  }
  return entries;
}

/* The equations, differentiated as often as they are, by the highest derivatives. */
static Entries jump_entries(Heap *heap, const ExportSource *source) {
  const Array *array = source->evaluator->array;
  const Jacobian *jacobian = source->evaluator->jacobian;
  Entries entries = begin_entries(heap);
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    uint32_t q = array->column_start[j] + (uint32_t)array->d[j];
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      uint32_t r = (uint32_t)jacobian->row_index[e], i = array->row_equation[r];
      if ((int32_t)array_level(array, r) == array->c[i]) add_entry(&entries, (int32_t)i);
    }
    end_column(&entries);
  }
  return entries;
}

static Entries entries_of(Heap *heap, const OrderedMatrix *matrix) {
  Entries entries = begin_entries(heap);
  for (uint32_t j = 0; j < matrix->columns; j++) {
    for (int32_t e = matrix->start[j]; e < matrix->start[j + 1]; e++) add_entry(&entries, matrix->row[e]);
    end_column(&entries);
  }
  return entries;
}

void orders_write(Heap *heap, Arena *arena, const ExportSource *source, const OrderedMatrix *more, uint32_t count,
                  TextVec *out) {
  bool is_dense = source->evaluator->array->problem->unknowns <= LARGEST_DENSE;
  Entries whole = whole_entries(heap, arena, source), jump = jump_entries(heap, source);
  put_order(arena, "WHOLE", is_dense, &whole, out);
  put_order(arena, "JUMP", is_dense, &jump, out);
  for (uint32_t k = 0; k < count; k++) {
    Entries entries = entries_of(heap, &more[k]);
    put_order(arena, more[k].name, is_dense, &entries, out);
  }
}
