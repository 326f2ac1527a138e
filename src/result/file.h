/* file: whole files in and out.
 *
 * Invariant: a file appears under its final name only when it is complete. A FileWriter writes under a temporary name in the same
 * directory and renames at the commit. A writer that is abandoned, or whose heap is freed, removes the temporary file, and an older
 * file of the final name stays unchanged. The same happens when a signal interrupts: the signal takes effect after the temporary
 * file is gone. A file that replaces another gets its permissions. A file that cannot be replaced by renaming (a device, a pipe) is
 * written directly. Errors are diagnostics of class DIAG_FILE. */
#pragma once

#include "base/diag.h"

/* Receives the bytes for standard output. Returns false with errno set when it cannot. */
typedef bool FileSink(void *context, const void *bytes, size_t length);

typedef struct FileWriter FileWriter;

/* Opens `path` for writing; "-" goes to `sink` (NULL: "-" is refused). Returns NULL after reporting to `diags` when the
 * place cannot be written; errno says why. The writer belongs to the heap until committed or abandoned; `diags` must outlive it. */
FileWriter *file_create(Heap *heap, Diags *diags, const char *path, FileSink *sink, void *context);

/* Appends bytes. An error is kept and reported by file_commit; everything after it is dropped. */
void file_write(FileWriter *writer, const void *bytes, size_t length);

/* Room for `length` bytes, at most 4096, that the caller fills; file_advance then says how many it used. */
char *file_room(FileWriter *writer, size_t length);
void file_advance(FileWriter *writer, size_t length);

/* Replaces the first bytes of the file. Call it last: nothing may be appended afterwards. Works for files only. */
void file_write_over(FileWriter *writer, const void *bytes, size_t length);

/* Does the file name have this ending? */
bool file_has_ending(const char *path, const char *ending);

/* Flushes and closes: everything that can fail except the renaming. Returns false after reporting; then abandon the writer. Files
 * that belong together are all finished first; then they are committed, in the reverse order of their creation. */
bool file_finish(FileWriter *writer);

/* Finishes if necessary, and gives the file its name. Returns false after reporting to the diags, with errno set; then
 * no file remains. The writer is gone in both cases. */
bool file_commit(FileWriter *writer);

/* Removes the temporary file. The writer is gone. NULL is allowed. */
void file_abandon(FileWriter *writer);

/* Creates, writes and commits in one call. False after reporting. */
bool file_save(Heap *heap, Diags *diags, const char *path, FileSink *sink, void *context, const char *bytes,
               size_t length);

/* Reads a whole file into the heap, NUL-terminated, `length` bytes before the NUL. Returns NULL after reporting: absent, not
 * a file (reading_open), more than 2^31 - 2 bytes. */
char *file_read(Heap *heap, Diags *diags, const char *path, uint32_t *length);
