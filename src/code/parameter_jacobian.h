/* parameter_jacobian: exact derivatives of rows by parameters, inputs among them. */
#pragma once

#include "code/array_code.h"

/* d rows / d leaves, the entries that are not identically zero, by leaves in the order given and by rows within one. */
typedef struct ParameterJacobian {
  uint32_t leaves, entries;
  uint32_t *start;  /* leaves + 1: the first entry of each */
  uint32_t *row;    /* per entry */
  Program *program; /* outputs: the entries; NULL without any */
} ParameterJacobian;

/* For parameter leaves, by their index. The graph of the code's model is extended: only while a plan is made. Lives in the
 * heap of the code. O(size of the rows, and of each row for each leaf in it). */
ParameterJacobian *parameter_jacobian_new(ArrayCode *code, const Expr *rows, uint32_t count, const uint32_t *leaves,
                                          uint32_t leaf_count);

/* Adds to out[rows] the entries of leaf k times a factor. `values` are those of the program. */
void parameter_jacobian_add(const ParameterJacobian *jacobian, uint32_t k, const double *values, double factor,
                            double *out);
