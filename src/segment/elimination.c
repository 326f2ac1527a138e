/* elimination: see elimination.h. */
#include "segment/elimination.h"

#include <string.h>

Elimination *elimination_new(Heap *heap, const System *system) {
  Elimination *elimination = heap_alloc(heap, sizeof *elimination);
  size_t columns = (size_t)system->columns, rows = (size_t)system->rows;
  elimination->heap = heap;
  elimination->system = system;
  elimination->unknown = heap_array(heap, rows, sizeof(int32_t));
  elimination->from = heap_array(heap, columns, sizeof(int32_t));
  elimination->to = heap_array(heap, columns, sizeof(int32_t));
  elimination->start = heap_array(heap, rows + 1, sizeof(int32_t));
  elimination->scratch = heap_array(heap, columns, sizeof(int32_t));
  elimination->chosen = heap_array(heap, 2 * columns, sizeof(int32_t));
  elimination->links = -1;
  return elimination;
}

static void elimination_find_unknowns(Elimination *elimination) {
  const System *system = elimination->system;
  int32_t count = 0, *is_state = elimination->scratch;
  memset(is_state, 0, (size_t)system->columns * sizeof *is_state);
  for (int32_t l = 0; l < system->links; l++) is_state[system->link_from[l]] = 1;
  for (int32_t c = 0; c < system->columns; c++)
    if (!is_state[c] && !(elimination->jacobian.left_out && elimination->jacobian.left_out[c]))
      elimination->unknown[count++] = c;
}

/* Walks the chains from their ends. */
static void elimination_order_links(Elimination *elimination) {
  const System *system = elimination->system;
  int32_t count = 0, *link_into = elimination->scratch;
  for (int32_t c = 0; c < system->columns; c++) link_into[c] = -1;
  for (int32_t l = 0; l < system->links; l++) link_into[system->link_to[l]] = l;
  for (int32_t u = 0; u < elimination->jacobian.rows; u++) {
    for (int32_t l = link_into[elimination->unknown[u]]; l >= 0; l = link_into[system->link_from[l]]) {
      elimination->from[count] = system->link_from[l];
      elimination->to[count++] = system->link_to[l];
    }
  }
}

/* Builds the pattern: the columns of the Jacobian that belong to one chain are united into one column. */
static void elimination_build_pattern(Elimination *elimination) {
  const System *system = elimination->system;
  const JacobianPattern *jacobian = &elimination->jacobian;
  int32_t count = 0, link = 0, *place = elimination->scratch;
  for (int32_t r = 0; r < jacobian->rows; r++) place[r] = -1;
  for (int32_t u = 0; u < jacobian->rows; u++) {
    int32_t column = elimination->unknown[u], depth = 0, first = count;
    elimination->start[u] = count;
    for (;;) {
      for (int32_t k = jacobian->column_start[column]; k < jacobian->column_start[column + 1]; k++) {
        int32_t r = jacobian->row_index[k];
        if (place[r] < first) {
          place[r] = count;
          elimination->row[count++] = r;
        }
        elimination->slot[k] = place[r];
        elimination->power[k] = depth;
      }
      if (link == system->links || elimination->to[link] != column) break;
      column = elimination->from[link++];
      depth++;
    }
  }
  elimination->start[jacobian->rows] = count;
}

static void elimination_make_room(Elimination *elimination) {
  int32_t nonzeros = elimination->jacobian.column_start[elimination->system->columns];
  if (nonzeros <= elimination->room) return;
  size_t bytes = (size_t)nonzeros * sizeof(int32_t);
  elimination->row = heap_resize(elimination->heap, elimination->row, bytes);
  elimination->slot = heap_resize(elimination->heap, elimination->slot, bytes);
  elimination->power = heap_resize(elimination->heap, elimination->power, bytes);
  elimination->room = nonzeros;
}

static size_t links_size(const System *system) { return (size_t)system->links * sizeof(int32_t); }

void elimination_choose(Elimination *elimination, const JacobianPattern *jacobian) {
  const System *system = elimination->system;
  elimination->jacobian =
      jacobian ? *jacobian : (JacobianPattern){system->rows, system->column_start, system->row_index, NULL};
  elimination_make_room(elimination);
  elimination_find_unknowns(elimination);
  elimination_order_links(elimination);
  elimination_build_pattern(elimination);
  elimination->links = system->links;
  memcpy(elimination->chosen, system->link_from, links_size(system));
  memcpy(elimination->chosen + system->links, system->link_to, links_size(system));
}

bool elimination_is_chosen(const Elimination *elimination) {
  const System *system = elimination->system;
  return elimination->links == system->links &&
         memcmp(elimination->chosen, system->link_from, links_size(system)) == 0 &&
         memcmp(elimination->chosen + system->links, system->link_to, links_size(system)) == 0;
}

void elimination_real(const Elimination *elimination, const double *jacobian, double factor, double *values) {
  int32_t nonzeros = elimination->jacobian.column_start[elimination->system->columns];
  memset(values, 0, (size_t)elimination->start[elimination->jacobian.rows] * sizeof(double));
  for (int32_t k = 0; k < nonzeros; k++) {
    double value = jacobian[k];
    for (int32_t p = elimination->power[k]; p > 0; p--) value *= factor;
    values[elimination->slot[k]] += value;
  }
}

void elimination_complex(const Elimination *elimination, const double *jacobian, double re, double im, double *values) {
  int32_t nonzeros = elimination->jacobian.column_start[elimination->system->columns];
  memset(values, 0, 2 * (size_t)elimination->start[elimination->jacobian.rows] * sizeof(double));
  for (int32_t k = 0; k < nonzeros; k++) {
    double x = jacobian[k], y = 0;
    for (int32_t p = elimination->power[k]; p > 0; p--) {
      double next = x * re - y * im;
      y = x * im + y * re;
      x = next;
    }
    values[2 * elimination->slot[k]] += x;
    values[2 * elimination->slot[k] + 1] += y;
  }
}

void elimination_subtract(const Elimination *elimination, const double *jacobian, const double *vector, double *right) {
  const JacobianPattern *pattern = &elimination->jacobian;
  for (int32_t l = 0; l < elimination->system->links; l++) {
    int32_t c = elimination->from[l];
    for (int32_t k = pattern->column_start[c]; k < pattern->column_start[c + 1]; k++)
      right[pattern->row_index[k]] -= jacobian[k] * vector[c];
  }
}

void elimination_filter(const Elimination *elimination, Linear *linear, const double *jacobian, double step,
                        double *error, double *right, double *work) {
  const System *system = elimination->system;
  int32_t rows = elimination->jacobian.rows;
  for (int32_t u = 0; u < rows; u++) error[elimination->unknown[u]] = 0;
  for (int32_t l = 0; l < system->links; l++) error[elimination->from[l]] += step * error[elimination->to[l]];
  memset(right, 0, (size_t)rows * sizeof(double));
  elimination_subtract(elimination, jacobian, error, right);
  linear_solve(linear, right);
  memset(work, 0, (size_t)system->columns * sizeof(double));
  for (int32_t u = 0; u < rows; u++) work[elimination->unknown[u]] = right[u];
  for (int32_t l = 0; l < system->links; l++) work[elimination->from[l]] = step * work[elimination->to[l]];
  for (int32_t c = 0; c < system->columns; c++) error[c] += work[c];
}
