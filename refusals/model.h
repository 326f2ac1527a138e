/* The model M in C99, written by daedal.
 * F(time, y) = 0 is the residual, dF/dy its Jacobian in compressed columns.
 * Rows: projection */
#ifndef MODEL_H
#define MODEL_H

enum {
  MODEL_ROWS = 5,
  MODEL_COLUMNS = 8,
  MODEL_PARAMETERS = 0,
  MODEL_DISCRETES = 2,
  MODEL_JACOBIAN_COLUMNS = 8,
  MODEL_NONZEROS = 19,
  MODEL_WORK = 1
};

/* Names, and values at the start. */
extern const char *const model_column_names[], *const model_row_names[];
extern const char *const model_parameter_names[], *const model_discrete_names[];
extern const double model_time, model_start[], model_parameters[], model_discretes[], model_pre[];

/* Pattern of the Jacobian: entries model_column_start[c] .. model_column_start[c + 1] - 1 are those of
 * column c, in rows model_row_index[entry], ascending. model_positions[c]: the place of column c in y. */
extern const int model_column_start[], model_row_index[], model_positions[];

/* Residual into out[MODEL_ROWS]; entries of the Jacobian into out[MODEL_NONZEROS]. `work` has room for
 * MODEL_WORK numbers, for each thread its own. Both return 0, or 1 if a result is not finite. */
int model_residual(double time, const double *y, const double *parameters, const double *discretes,
                   const double *pre, double *work, double *out);
int model_jacobian(double time, const double *y, const double *parameters, const double *discretes,
                   const double *pre, double *work, double *out);

#endif
