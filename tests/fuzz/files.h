/* files: an input that holds several files. A line "//@ PATH" begins a file of a library; the text before the first one is the
 * model. The files are written below a directory of the process, and removed again. */
#ifndef DAEDAL_FUZZ_FILES_H
#define DAEDAL_FUZZ_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_FILES = 8, LONGEST_PATH = 200 };

typedef struct InputFiles {
  char folder[32]; /* made by files_open; empty: it could not be made */
  char paths[MOST_FILES][LONGEST_PATH];
  int count;
  size_t main_length; /* length of the text before the first file */
} InputFiles;

/* Writes the files of the text. Without such lines, no directory is made, and the whole text is the model. */
void files_open(InputFiles *files, const char *text, size_t length);

/* Removes them. */
void files_close(InputFiles *files);

#endif
