/* Shows the model: its columns at the start, the residual and the entries of the Jacobian there. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  double *work = malloc(MODEL_WORK * sizeof *work);
  double *residual = malloc((MODEL_ROWS + 1) * sizeof *residual);
  double *entries = malloc((MODEL_NONZEROS + 1) * sizeof *entries);
  if (!work || !residual || !entries) return 1;
  int bad = model_residual(model_time, model_start, model_parameters, model_discretes, model_pre, work, residual);
  bad |= model_jacobian(model_time, model_start, model_parameters, model_discretes, model_pre, work, entries);
  for (int c = 0; c < MODEL_COLUMNS; c++) printf("column %d %.17g %s\n", c, model_start[c], model_column_names[c]);
  for (int r = 0; r < MODEL_ROWS; r++) printf("row %d %.17g %s\n", r, residual[r], model_row_names[r]);
  for (int c = 0; c < MODEL_JACOBIAN_COLUMNS; c++)
    for (int k = model_column_start[c]; k < model_column_start[c + 1]; k++)
      printf("entry %d %d %.17g\n", model_row_index[k], model_positions[c], entries[k]);
  if (bad) fprintf(stderr, "some results are not finite\n");
  free(work);
  free(residual);
  free(entries);
  return bad;
}
