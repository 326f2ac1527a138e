/* differentiate: how initial values depend on start values and parameters, by the implicit function theorem. Columns that hold
 * their start values change by as much as the start values. All others change as the rows of the initial system require. */
#pragma once

#include "code/leaf_jacobian.h"
#include "init/initial.h"

/* The variation in one direction. */
typedef struct StartChange {
  const double *column;    /* per column of the initial system: the variation of its start value */
  const double *parameter; /* per parameter leaf listed */
  const double *discrete;  /* per discrete leaf listed, then per pre() of these */
} StartChange;

/* Leaves that vary, by index. */
typedef struct StartLeaves {
  const uint32_t *parameters, *discretes;
  uint32_t parameter_count, discrete_count;
} StartLeaves;

/* Programs that do not depend on values: derivatives of the rows of an initial system with respect to its columns and to leaves. */
typedef struct StartCode {
  StartLeaves varied;
  uint32_t rows, columns;
  const Jacobian *jacobian;
  const LeafJacobian *leaves; /* parameters, discrete leaves, pre() of these */
} StartCode;

/* If initialization determines no parameters, it is used for all runs. Lives in the heap. */
StartCode *start_code_new(Heap *heap, InitialSystem *system, StartLeaves varied);

typedef struct StartDerivative StartDerivative;

/* Makes the derivative of the initial values with respect to the leaves that `code` lists. If `code` belongs to another initial
 * system, it is compiled again. NULL: there is no derivative, and diags names the cause: a start value that moved to a consistent
 * one, or a value that nothing determines. Lives in the heap. */
StartDerivative *start_derivative_new(Initializer *initializer, const Initial *initial, const StartCode *code,
                                      Diags *diags);

/* The initial system of the derivative; changes refer to its columns. */
const InitialSystem *start_derivative_system(const StartDerivative *derivative);

/* Changes of all columns of the initial system. */
void start_derivative_apply(StartDerivative *derivative, const StartChange *change, double *columns);
