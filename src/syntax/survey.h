/* survey: parses every file below a directory, one by one, and keeps only the errors. */
#pragma once

#include "syntax/library.h"

typedef struct SurveyCounts {
  uint32_t files, classes; /* including nested classes */
  uint64_t bytes;
  LIST(const char *) models; /* models and blocks of packages that are not partial, by their full names */
} SurveyCounts;

/* Parses the files *.mo below the directories of the options' path, each once, even if several links lead to it. Files with errors
 * join the source; the errors go to `diags`. Needs memory only for the largest file. */
SurveyCounts survey_run(Source *source, LibraryOptions options, Diags *diags);
