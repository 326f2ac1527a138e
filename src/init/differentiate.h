/* differentiate: how initial values depend on start values and parameters, by the implicit function theorem: columns that hold
 * their start values move with them, all others as the rows of the initial system require. */
#pragma once

#include "code/leaf_jacobian.h"
#include "init/initial.h"

/* The variation in one direction. */
typedef struct StartChange {
  const double *column;    /* per column of the initial system: the variation of its start value */
  const double *parameter; /* per leaf listed */
} StartChange;

/* Programs that do not depend on values: derivatives of the rows of an initial system by its columns and by parameters. */
typedef struct StartCode {
  const uint32_t *parameters; /* leaves */
  uint32_t count, rows, columns;
  const Jacobian *jacobian;
  const LeafJacobian *leaves;
} StartCode;

/* For parameter leaves by index. Without parameters that initialization determines, all runs use it. Lives in the heap.
 * */
StartCode *start_code_new(Heap *heap, InitialSystem *system, const uint32_t *parameters, uint32_t count);

typedef struct StartDerivative StartDerivative;

/* Makes the derivative of the initial values by the parameters that `code` reads. If `code` belongs to another initial system, it is
 * compiled again. NULL: there is no derivative, and diags names the cause: a start value that moved to a consistent one, or a value
 * that nothing determines. Lives in the heap. */
StartDerivative *start_derivative_new(Initializer *initializer, const Initial *initial, const StartCode *code,
                                      Diags *diags);

/* Its initial system, whose columns a change refers to. */
const InitialSystem *start_derivative_system(const StartDerivative *derivative);

/* Changes of all columns of the initial system. */
void start_derivative_apply(StartDerivative *derivative, const StartChange *change, double *columns);
