/* leaf_jacobian: exact derivatives of rows with respect to leaves that are not columns: parameters, inputs, discrete variables,
 * time. */
#pragma once

#include "code/program.h"

/* d rows / d leaves, the entries that are not identically zero, by leaves in the order given and by rows within one. */
typedef struct LeafJacobian {
  uint32_t leaves, entries;
  uint32_t *start;  /* leaves + 1: the first entry of each */
  uint32_t *row;    /* per entry */
  Expr *entry;      /* the entries themselves */
  Program *program; /* outputs: the entries; NULL without any */
} LeafJacobian;

/* For leaves, given as nodes of the model's graph. The graph is extended, so only its one owner may call this. Model and layout
 * must outlive it. Lives
 * in the heap. O(size of the rows, and of each row for each leaf in it). */
LeafJacobian *leaf_jacobian_new(Heap *heap, Model *model, const Layout *layout, const Expr *rows, uint32_t count,
                                const Expr *leaves, uint32_t leaf_count);

/* Adds to out[rows] the entries of leaf k times a factor. `values` are the outputs of the program. */
void leaf_jacobian_add(const LeafJacobian *jacobian, uint32_t k, const double *values, double factor, double *out);

/* The entries of leaf k times a vector[rows]. */
double leaf_jacobian_dot(const LeafJacobian *jacobian, uint32_t k, const double *values, const double *vector);
