/* start_list: start values from files: a list of modifiers `(x(start = 1), y(start = 2))`, as
 * initial_report_modifiers writes it, or a result at some time. */
#pragma once

#include "model/model.h"
#include "result/trajectory.h"

/* Reads the list in file `path`. Values go to starts (per variable of the model; others stay unchanged). `name = value` is also
 * accepted, comments and line breaks are allowed anywhere, and the outer parentheses may be missing. Names that the model does not
 * have cause a warning. false: a DIAG_FILE error describes the fault and names the line. O(size of the file). */
bool start_list_read(Heap *heap, const Model *model, const char *path, double *starts, Diags *diags);

/* Like start_list_read, for a text; messages say that it is in file `path`. */
bool start_list_take(Heap *heap, const Model *model, const char *text, const char *path, double *starts, Diags *diags);

/* Takes the values of the model's variables from a result file at a time (NaN: the last one). false after a DIAG_FILE error: there
 * is no such file or time, or the file has none of the variables. O(size of the file). */
bool start_list_from_result(Heap *heap, const Model *model, const char *path, double time, double *starts,
                            Diags *diags);
