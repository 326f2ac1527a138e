/* differentiate: how initial values follow start values and parameters. By the implicit function theorem: columns that hold their
 * start values move with them, all others as the rows of the initial system ask for. */
#pragma once

#include "code/leaf_jacobian.h"
#include "init/initial.h"

/* What moves, for one direction. */
typedef struct StartChange {
  const double *column;    /* per column of the initial system: what its start value moves by */
  const double *parameter; /* per leaf listed */
} StartChange;

/* Programs that do not depend on values: derivatives of the rows of an initial system by its columns and by parameters. */
typedef struct StartCode {
  const uint32_t *parameters; /* leaves */
  uint32_t count, rows, columns;
  const Jacobian *jacobian;
  const LeafJacobian *leaves;
} StartCode;

/* For parameter leaves by index. Without parameters that initialization determines it serves all runs. Lives in the heap. */
StartCode *start_code_new(Heap *heap, InitialSystem *system, const uint32_t *parameters, uint32_t count);

typedef struct StartDerivative StartDerivative;

/* For the parameter leaves of the code, which is made again if it is of another system. NULL: a start value that moved to a consistent one, or a
 * value that nothing determines, is named in diags. Lives in the heap. */
StartDerivative *start_derivative_new(Initializer *initializer, const Initial *initial, const StartCode *code,
                                      Diags *diags);

/* The initial system after it, whose columns a change counts. */
const InitialSystem *start_derivative_system(const StartDerivative *derivative);

/* Changes of all columns of the initial system. */
void start_derivative_apply(StartDerivative *derivative, const StartChange *change, double *columns);
