/* elimination: see elimination.h. */
#include "solve/elimination.h"

#include <string.h>

Elimination *elimination_new(Heap *heap, const System *system) {
  Elimination *elimination = heap_alloc(heap, sizeof *elimination);
  size_t columns = (size_t)system->columns, rows = (size_t)system->rows;
  size_t nonzeros = (size_t)system->column_start[system->columns];
  elimination->system = system;
  elimination->unknown = heap_array(heap, rows, sizeof(int32_t));
  elimination->from = heap_array(heap, columns, sizeof(int32_t));
  elimination->to = heap_array(heap, columns, sizeof(int32_t));
  elimination->start = heap_array(heap, rows + 1, sizeof(int32_t));
  elimination->row = heap_array(heap, nonzeros, sizeof(int32_t));
  elimination->slot = heap_array(heap, nonzeros, sizeof(int32_t));
  elimination->power = heap_array(heap, nonzeros, sizeof(int32_t));
  elimination->scratch = heap_array(heap, columns, sizeof(int32_t));
  return elimination;
}

static void elimination_find_unknowns(Elimination *elimination) {
  const System *system = elimination->system;
  int32_t count = 0, *is_state = elimination->scratch;
  memset(is_state, 0, (size_t)system->columns * sizeof *is_state);
  for (int32_t l = 0; l < system->links; l++) is_state[system->link_from[l]] = 1;
  for (int32_t c = 0; c < system->columns; c++)
    if (!is_state[c]) elimination->unknown[count++] = c;
}

/* Walks the chains from their ends. */
static void elimination_order_links(Elimination *elimination) {
  const System *system = elimination->system;
  int32_t count = 0, *link_into = elimination->scratch;
  for (int32_t c = 0; c < system->columns; c++) link_into[c] = -1;
  for (int32_t l = 0; l < system->links; l++) link_into[system->link_to[l]] = l;
  for (int32_t u = 0; u < system->rows; u++) {
    for (int32_t l = link_into[elimination->unknown[u]]; l >= 0; l = link_into[system->link_from[l]]) {
      elimination->from[count] = system->link_from[l];
      elimination->to[count++] = system->link_to[l];
    }
  }
}

/* The union of G's columns along each chain. */
static void elimination_build_pattern(Elimination *elimination) {
  const System *system = elimination->system;
  int32_t count = 0, link = 0, *place = elimination->scratch;
  for (int32_t r = 0; r < system->rows; r++) place[r] = -1;
  for (int32_t u = 0; u < system->rows; u++) {
    int32_t column = elimination->unknown[u], depth = 0, first = count;
    elimination->start[u] = count;
    for (;;) {
      for (int32_t k = system->column_start[column]; k < system->column_start[column + 1]; k++) {
        int32_t r = system->row_index[k];
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
  elimination->start[system->rows] = count;
}

void elimination_choose(Elimination *elimination) {
  elimination_find_unknowns(elimination);
  elimination_order_links(elimination);
  elimination_build_pattern(elimination);
}

void elimination_real(const Elimination *elimination, const double *jacobian, double factor, double *values) {
  const System *system = elimination->system;
  int32_t nonzeros = system->column_start[system->columns];
  memset(values, 0, (size_t)elimination->start[system->rows] * sizeof(double));
  for (int32_t k = 0; k < nonzeros; k++) {
    double value = jacobian[k];
    for (int32_t p = elimination->power[k]; p > 0; p--) value *= factor;
    values[elimination->slot[k]] += value;
  }
}

void elimination_complex(const Elimination *elimination, const double *jacobian, double re, double im,
                         double *values) {
  const System *system = elimination->system;
  int32_t nonzeros = system->column_start[system->columns];
  memset(values, 0, 2 * (size_t)elimination->start[system->rows] * sizeof(double));
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

void elimination_subtract(const Elimination *elimination, const double *jacobian, const double *vector,
                          double *right) {
  const System *system = elimination->system;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t c = elimination->from[l];
    for (int32_t k = system->column_start[c]; k < system->column_start[c + 1]; k++)
      right[system->row_index[k]] -= jacobian[k] * vector[c];
  }
}
