/* journal: the finished points of a sweep on disk while it runs, so that a killed sweep can continue.
 *
 * Invariant: a file is a header and records of equal form. The header identifies the sweep by a hash of everything that determines
 * its numbers. Each record has a checksum and is written by one append. A kill can only damage the end, which is dropped when the
 * journal is read. */
#pragma once

#include "base/diag.h"

typedef struct Journal Journal;

/* The path of the file. */
const char *journal_path(const Journal *journal);

/* A finished point. */
typedef struct JournalRecord {
  uint32_t point, status;
  const double *values; /* for all columns */
  const char *cause;    /* cause of a failure; "" or a text that may be cut off */
} JournalRecord;

typedef void JournalReader(void *context, const JournalRecord *record);

/* Opens the journal of a sweep. `resumes`: passes the records of an existing journal of this sweep to the reader first; refuses the
 * journal of another sweep. Otherwise empties an existing journal. NULL: an error is in diags. Closed with the heap. */
Journal *journal_open(Heap *heap, Diags *diags, const char *path, uint64_t hash, uint32_t columns, bool resumes,
                      JournalReader *reader, void *context);

/* Appends a record. Any thread may call it. false, with errno set: it cannot be written. */
bool journal_append(Journal *journal, const JournalRecord *record);

/* Flushes appended records to the disk, at most once a second. Call it from one thread at a time. */
void journal_sync(Journal *journal);

/* Removes the file when its points are in the table. */
void journal_remove(Journal *journal);
