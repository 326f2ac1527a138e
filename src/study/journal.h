/* journal: the finished points of a sweep on disk while it runs, so that a killed sweep can continue.
 *
 * Invariant: a file is a header, which identifies the sweep by a hash of everything that decides its numbers, and records of equal
 * form, each written by one append and with a checksum. A kill can only damage the end, which is dropped when the journal is
 * read. */
#pragma once

#include "base/diag.h"

typedef struct Journal Journal;

/* Where it is. */
const char *journal_path(const Journal *journal);

/* A finished point. */
typedef struct JournalRecord {
  uint32_t point, status;
  const double *values; /* of all columns */
  const char *cause;    /* of a failure; "" or a text that may be cut */
} JournalRecord;

typedef void JournalReader(void *context, const JournalRecord *record);

/* Opens the journal of a sweep. `resumes`: hands its records to the reader first, if there is one of this sweep; that of another is
 * refused. Otherwise an older one is emptied. NULL: an error is in diags. Closed with the heap. */
Journal *journal_open(Heap *heap, Diags *diags, const char *path, uint64_t hash, uint32_t columns, bool resumes,
                      JournalReader *reader, void *context);

/* Appends a record; any thread may. false, with errno set: it cannot be written. */
bool journal_append(Journal *journal, const JournalRecord *record);

/* Brings to the disk what was appended, at most once a second. By one thread at a time. */
void journal_sync(Journal *journal);

/* Removes the file: its points are in the table. */
void journal_remove(Journal *journal);
