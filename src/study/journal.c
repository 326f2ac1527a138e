/* journal: see journal.h. Each record is one write with O_APPEND, which needs no lock. */
#include "study/journal.h"

#include "base/map.h"
#include "base/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CAUSE_SIZE = 200 };

typedef struct JournalHeader {
  char magic[8];
  uint64_t hash;
  uint32_t columns, version;
} JournalHeader;

/* The beginning of a record, before its values. */
typedef struct RecordHead {
  uint64_t checksum; /* checksum of everything after it */
  uint32_t point, status;
  char cause[CAUSE_SIZE];
} RecordHead;

struct Journal {
  Heap *heap;
  const char *path;
  uint32_t columns;
  int descriptor; /* -1: none */
  time_t synced;
};

static size_t record_size(const Journal *journal) { return sizeof(RecordHead) + journal->columns * sizeof(double); }

static uint64_t checksum_of(const Journal *journal, const char *record) {
  return hash_bytes(record + sizeof(uint64_t), record_size(journal) - sizeof(uint64_t));
}

static void release(void *object) {
  Journal *journal = object;
  if (journal->descriptor >= 0) close(journal->descriptor);
  journal->descriptor = -1;
}

static bool refuse(Diags *diags, const Journal *journal, const char *verb) {
  diag_file_error(diags, verb, journal->path, errno);
  return false;
}

static bool write_whole(int descriptor, const void *bytes, size_t length) {
  ssize_t done;
  do done = write(descriptor, bytes, length);
  while (done < 0 && errno == EINTR);
  if (done >= 0 && (size_t)done < length) errno = ENOSPC;
  return done >= 0 && (size_t)done == length;
}

/* A network file system may return fewer bytes at once than requested. */
static bool read_whole(int descriptor, void *bytes, size_t length) {
  for (size_t got = 0; got < length;) {
    ssize_t more = read(descriptor, (char *)bytes + got, length - got);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    got += (size_t)more;
  }
  return true;
}

/* Is the record undamaged, and its cause a text? */
static bool is_whole(const Journal *journal, const char *record) {
  const RecordHead *head = (const RecordHead *)record;
  return head->checksum == checksum_of(journal, record) && memchr(head->cause, '\0', CAUSE_SIZE);
}

/* Reads the undamaged records. Truncates the file at the first damaged one. */
static bool read_records(Journal *journal, Diags *diags, JournalReader *reader, void *context) {
  size_t size = record_size(journal);
  char *bytes = heap_alloc(journal->heap, size);
  const RecordHead *head = (const RecordHead *)bytes;
  off_t end = sizeof(JournalHeader);
  for (; read_whole(journal->descriptor, bytes, size) && is_whole(journal, bytes); end += (off_t)size)
    reader(context, &(JournalRecord){.point = head->point,
                                     .status = head->status,
                                     .values = (const double *)(bytes + sizeof *head),
                                     .cause = head->cause});
  heap_free(journal->heap, bytes);
  return ftruncate(journal->descriptor, end) == 0 || refuse(diags, journal, "shorten");
}

static bool resume(Journal *journal, Diags *diags, const JournalHeader *expected, JournalReader *reader,
                   void *context) {
  JournalHeader found;
  if (!read_whole(journal->descriptor, &found, sizeof found) || memcmp(&found, expected, sizeof found) != 0) {
    Diag *diag = diag_error(diags, DIAG_USAGE, (Span){0},
                            "the points in `%s` are of another sweep and cannot be resumed", journal->path);
    diag_note(diags, diag, (Span){0}, "the model, its values, settings and outputs must be the same");
    return false;
  }
  return read_records(journal, diags, reader, context);
}

static bool begin(Journal *journal, Diags *diags, const JournalHeader *header) {
  if (ftruncate(journal->descriptor, 0) == 0 && write_whole(journal->descriptor, header, sizeof *header)) return true;
  return refuse(diags, journal, "write");
}

Journal *journal_open(Heap *heap, Diags *diags, const char *path, uint64_t hash, uint32_t columns, bool resumes,
                      JournalReader *reader, void *context) {
  Journal *journal = heap_alloc(heap, sizeof *journal);
  JournalHeader header = {.magic = "daedal\n", .hash = hash, .columns = columns, .version = 1};
  struct stat info;
  *journal = (Journal){.heap = heap, .path = path, .columns = columns, .descriptor = -1};
  heap_defer(heap, release, journal);
  journal->descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  bool is_open = journal->descriptor >= 0 && fstat(journal->descriptor, &info) == 0;
  if (is_open && !S_ISREG(info.st_mode)) errno = READING_NOT_A_FILE;
  if (!is_open || !S_ISREG(info.st_mode)) {
    refuse(diags, journal, "write");
    return NULL;
  }
  bool is_resumed = resumes && info.st_size >= (off_t)sizeof header; /* a kill may have cut off even the header */
  bool ok = is_resumed ? resume(journal, diags, &header, reader, context) : begin(journal, diags, &header);
  return ok ? journal : NULL;
}

const char *journal_path(const Journal *journal) { return journal->path; }

bool journal_append(Journal *journal, const JournalRecord *record) {
  char small[4096], *bytes = small;
  size_t size = record_size(journal), values = journal->columns * sizeof(double);
  HeapHook hook = *heap_hook(journal->heap);
  errno = ENOMEM;
  if (size > sizeof small && !(bytes = hook.resize(hook.context, NULL, size))) return false;
  RecordHead head = {.point = record->point, .status = record->status};
  snprintf(head.cause, sizeof head.cause, "%s", record->cause ? record->cause : "");
  memcpy(bytes, &head, sizeof head);
  memcpy(bytes + sizeof head, record->values, values);
  head.checksum = checksum_of(journal, bytes);
  memcpy(bytes, &head.checksum, sizeof head.checksum);
  bool ok = write_whole(journal->descriptor, bytes, size);
  if (bytes != small) hook.resize(hook.context, bytes, 0);
  return ok;
}

void journal_sync(Journal *journal) {
  time_t now = time(NULL);
  if (now == journal->synced || journal->descriptor < 0) return;
  journal->synced = now;
  fdatasync(journal->descriptor);
}

void journal_remove(Journal *journal) {
  release(journal);
  unlink(journal->path);
}
