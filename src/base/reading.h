/* reading: which files may be read, and how they are opened.
 *
 * Invariant: permission is decided by the real path, with links and `..` resolved, so that no path leads out of the
 * folders. Anything but a regular file (a pipe, a device, a directory) is never opened for reading, because it could
 * block forever. */
#pragma once

#include "base/diag.h"

#include <limits.h>

/* Permission to read. */
typedef struct Reading {
  VEC(const char *) folders; /* real paths */
  bool is_everywhere;
} Reading;

/* Allows reading in the folders of a colon-separated list; folders that do not exist are ignored. NULL: none. */
void reading_allow(Reading *reading, Heap *heap, const char *folders);

/* Allows reading in the folder of a model's file and, if that folder is a package, the folders of the enclosing packages. */
void reading_allow_model(Reading *reading, Heap *heap, const char *path);

/* May the file or folder be read? If it does not exist, the folder that would contain it decides. `real`: its real path, if it
 * exists. */
bool reading_allows(const Reading *reading, const char *path, char real[PATH_MAX]);

/* The FILE of NAME=FILE, which makes a file the class NAME; any other text is returned unchanged. */
const char *reading_file(const char *given);

/* Reads a file that a text names: all of it, into the heap. NULL: it cannot be read, which is reported. */
typedef struct FileReader {
  char *(*read)(const Reading *reading, Heap *heap, Diags *diags, const char *path, uint32_t *length); /* NULL: none */
  const Reading *reading;
} FileReader;

/* Opens a file for reading and returns its descriptor; -1 with the reason in errno. */
int reading_open(const char *path);
enum { READING_NOT_A_FILE = -1 }; /* a value of errno in addition to those of the system */

/* The text of an error number; it may be in `room`. */
enum { READING_TEXT = 256 };
const char *reading_failure(int error, char room[READING_TEXT]);
