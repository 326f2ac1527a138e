/* reading: which files may be read, and how a file is opened for that.
 *
 * Invariant: a path counts by its real one, with links and `..` resolved, so that none leads out of the folders. What is
 * not a file (a pipe, a device, a directory) is never opened to be read: it could hold on for ever. */
#pragma once

#include "base/diag.h"

#include <limits.h>

/* Leave to read. */
typedef struct Reading {
  VEC(const char *) folders; /* real paths */
  bool is_everywhere;
} Reading;

/* Allows the folders of a list with colons between them; those that are not there give no leave. NULL: none. */
void reading_allow(Reading *reading, Heap *heap, const char *folders);

/* Allows the folder of a model's file and, if that folder is a package's, those of the packages around it. */
void reading_allow_model(Reading *reading, Heap *heap, const char *path);

/* May the file or folder be read? If it does not exist, the folder decides in which it would be. `real`: its real
 * path, if it is there. */
bool reading_allows(const Reading *reading, const char *path, char real[PATH_MAX]);

/* The FILE of NAME=FILE, which makes a file the class NAME; any other text as it is. */
const char *reading_file(const char *given);

/* How a text reads the files that it names: whole, into the heap; NULL after reporting. */
typedef struct FileReader {
  char *(*read)(const Reading *reading, Heap *heap, Diags *diags, const char *path, uint32_t *length); /* NULL: none */
  const Reading *reading;
} FileReader;

/* Descriptor of a file, opened to be read; -1 with the reason in errno. */
int reading_open(const char *path);
enum { READING_NOT_A_FILE = -1 }; /* in errno, beside the numbers of the system */

/* The text of an error number; it may be in `room`. */
enum { READING_TEXT = 256 };
const char *reading_failure(int error, char room[READING_TEXT]);
