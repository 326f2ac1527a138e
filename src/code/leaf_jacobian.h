/* leaf_jacobian: exact derivatives of rows by leaves that are no columns: parameters, inputs, discrete variables, time. */
#pragma once

#include "code/array_code.h"

/* d rows / d leaves, the entries that are not identically zero, by leaves in the order given and by rows within one. */
typedef struct LeafJacobian {
  uint32_t leaves, entries;
  uint32_t *start;  /* leaves + 1: the first entry of each */
  uint32_t *row;    /* per entry */
  Program *program; /* outputs: the entries; NULL without any */
} LeafJacobian;

/* For leaves, as nodes of the graph of the code's model. That graph is extended: only while a plan is made. Lives in the
 * heap of the code. O(size of the rows, and of each row for each leaf in it). */
LeafJacobian *leaf_jacobian_new(ArrayCode *code, const Expr *rows, uint32_t count, const Expr *leaves,
                                uint32_t leaf_count);

/* Adds to out[rows] the entries of leaf k times a factor. `values` are those of the program. */
void leaf_jacobian_add(const LeafJacobian *jacobian, uint32_t k, const double *values, double factor, double *out);
