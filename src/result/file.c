/* file: see file.h. The temporary name is made with O_EXCL and the mode 0666, so that the umask decides the permissions of a new
 * file without being read (reading it would change it for other threads). Signals that would end the program are held back while
 * there is a temporary file, and make the write fail. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "result/file.h"

#include "base/reading.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 16, NAME_TRIES = 1000 };

struct FileWriter {
  Heap *heap;
  Diags *diags;
  void *ticket;
  const char *path;      /* as the user gave it */
  const char *target;    /* the file that is replaced: `path` with symbolic links followed */
  const char *temporary; /* NULL when written directly */
  SignalHold hold;       /* holds signals back while there is a temporary file */
  FileSink *sink;
  void *context;
  int descriptor; /* -1: none */
  int error;      /* errno of the first failure */
  size_t used;
  char *buffer;
};

static char *copy_text(Heap *heap, const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(heap_alloc(heap, size), text, size);
}

/* Called by commit, by abandon, or at the end of the heap. First removes the file, then closes it. A commit clears the fields,
 * so after a commit this does nothing. */
static void release_writer(void *object) {
  FileWriter *writer = object;
  if (writer->temporary) unlink(writer->temporary);
  if (writer->descriptor >= 0) close(writer->descriptor);
  writer->temporary = NULL;
  writer->descriptor = -1;
  signals_release(&writer->hold);
}

static void drop_writer(FileWriter *writer) {
  Heap *heap = writer->heap;
  heap_release(heap, writer->ticket);
  heap_free_all(heap, writer->buffer, writer);
}

/* A path whose last part can be replaced: symbolic links are followed as open() would. */
static const char *follow_links(FileWriter *writer) {
  char *real = realpath(writer->path, NULL);
  if (!real) return writer->path;                      /* new, or dangling: rename then replaces the link */
  void *ticket = heap_defer(writer->heap, free, real); /* the next line may be refused */
  char *copy = copy_text(writer->heap, real);
  heap_release(writer->heap, ticket);
  return copy;
}

/* target's directory + "." + its name + ".PID-N.part" */
static char *temporary_name(Heap *heap, const char *target, int number) {
  const char *slash = strrchr(target, '/');
  int directory = slash ? (int)(slash - target) + 1 : 0;
  TextVec name = {0};
  text_printf(heap, &name, "%.*s.%.200s.%ld-%d.part", directory, target, target + directory, (long)getpid(), number);
  return name.data;
}

/* The new file gets the permissions and, if allowed, the owner of the file that it replaces. */
static void inherit(int descriptor, const struct stat *replaced) {
  (void)!fchown(descriptor, replaced->st_uid, replaced->st_gid);
  fchmod(descriptor, replaced->st_mode & 0777);
}

/* `replaced` is NULL if there is no file yet. */
static bool open_temporary(FileWriter *writer, const struct stat *replaced) {
  writer->hold = signals_hold();
  for (int number = 0; number < NAME_TRIES; number++) {
    char *name = temporary_name(writer->heap, writer->target, number);
    writer->descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaced ? 0600 : 0666);
    if (writer->descriptor >= 0) {
      writer->temporary = name;
      if (replaced) inherit(writer->descriptor, replaced);
      return true;
    }
    heap_free(writer->heap, name);
    if (errno != EEXIST) return false;
  }
  return false;
}

/* Opens the file that the path means; false with errno set. */
static bool open_target(FileWriter *writer) {
  struct stat info;
  bool there = stat(writer->path, &info) == 0;
  size_t length = strlen(writer->path);
  if (there && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (!there && (length == 0 || writer->path[length - 1] == '/')) {
    errno = length ? EISDIR : ENOENT;
    return false;
  }
  if (there && !S_ISREG(info.st_mode)) {
    writer->descriptor = open(writer->path, O_WRONLY | O_CLOEXEC);
    return writer->descriptor >= 0;
  }
  if (there && access(writer->path, W_OK) != 0) return false; /* a read-only file is kept */
  writer->target = follow_links(writer);
  return open_temporary(writer, there ? &info : NULL);
}

FileWriter *file_create(Heap *heap, Diags *diags, const char *path, FileSink *sink, void *context) {
  FileWriter *writer = heap_alloc(heap, sizeof *writer);
  writer->heap = heap;
  writer->diags = diags;
  writer->descriptor = -1;
  writer->path = copy_text(heap, path);
  writer->buffer = heap_alloc(heap, BUFFER_SIZE);
  writer->ticket = heap_defer(heap, release_writer, writer);
  bool standard = strcmp(path, "-") == 0;
  int error = EINVAL;
  if (standard && sink) {
    writer->sink = sink;
    writer->context = context;
    return writer;
  }
  if (standard) diag_error(diags, DIAG_FILE, (Span){0, 0}, "this output cannot go to standard output; name a file");
  else if (open_target(writer)) return writer;
  else diag_file_error(diags, "write", path, error = errno);
  drop_writer(writer);
  errno = error;
  return NULL;
}

static bool write_all(FileWriter *writer, const char *bytes, size_t length) {
  if (writer->sink) return writer->sink(writer->context, bytes, length);
  while (length > 0) {
    ssize_t done = write(writer->descriptor, bytes, length);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes += done;
    length -= (size_t)done;
  }
  return true;
}

static void fail(FileWriter *writer) {
  if (!writer->error) writer->error = errno ? errno : EIO;
}

static void emit(FileWriter *writer, const char *bytes, size_t length) {
  if (length == 0) return;
  errno = 0;
  if (!writer->error && signals_waiting(&writer->hold)) writer->error = EINTR;
  if (!writer->error && !write_all(writer, bytes, length)) fail(writer);
}

static void flush(FileWriter *writer) {
  emit(writer, writer->buffer, writer->used);
  writer->used = 0;
}

void file_write(FileWriter *writer, const void *bytes, size_t length) {
  if (length > BUFFER_SIZE - writer->used) flush(writer);
  if (length > BUFFER_SIZE) {
    emit(writer, bytes, length);
  } else if (length) {
    memcpy(writer->buffer + writer->used, bytes, length);
    writer->used += length;
  }
}

char *file_room(FileWriter *writer, size_t length) {
  if (length > BUFFER_SIZE - writer->used) flush(writer);
  return writer->buffer + writer->used;
}

void file_advance(FileWriter *writer, size_t length) { writer->used += length; }

void file_write_over(FileWriter *writer, const void *bytes, size_t length) {
  flush(writer);
  errno = 0;
  if (!writer->error && lseek(writer->descriptor, 0, SEEK_SET) != 0) fail(writer);
  emit(writer, bytes, length);
}

bool file_has_ending(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcmp(path + length - tail, ending) == 0;
}

static bool is_good(const FileWriter *writer) {
  if (writer->error) diag_file_error(writer->diags, "write", writer->path, writer->error);
  return !writer->error;
}

bool file_finish(FileWriter *writer) {
  flush(writer);
  if (writer->descriptor >= 0) {
    int descriptor = writer->descriptor;
    writer->descriptor = -1;
    if (close(descriptor) != 0 && errno != EINTR) fail(writer); /* network file systems report here */
  }
  return is_good(writer);
}

static bool give_name(FileWriter *writer) {
  if (!writer->temporary) return true;
  if (rename(writer->temporary, writer->target) == 0) writer->temporary = NULL;
  else fail(writer);
  return is_good(writer);
}

bool file_commit(FileWriter *writer) {
  bool good = file_finish(writer) && give_name(writer);
  int error = writer->error;
  drop_writer(writer);
  errno = error;
  return good;
}

void file_abandon(FileWriter *writer) {
  if (writer) drop_writer(writer);
}

bool file_save(Heap *heap, Diags *diags, const char *path, FileSink *sink, void *context, const char *bytes,
               size_t length) {
  FileWriter *writer = file_create(heap, diags, path, sink, context);
  if (!writer) return false;
  file_write(writer, bytes, length);
  return file_commit(writer);
}

static void close_descriptor(void *object) {
  int *descriptor = object;
  if (*descriptor >= 0) close(*descriptor);
}

/* Reads to the end; false with errno set. EFBIG: more than a text can hold. */
static bool read_all(Heap *heap, int descriptor, uint32_t expected, TextVec *text) {
  vec_reserve(heap, text, expected + 1);
  for (;;) {
    if (text->capacity - text->count < 2) {
      if (text->count >= INT32_MAX - 1) {
        errno = EFBIG;
        return false;
      }
      vec_reserve(heap, text, 2);
    }
    ssize_t done = read(descriptor, text->data + text->count, text->capacity - text->count - 1);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    if (done == 0) break;
    text->count += (uint32_t)done;
  }
  text->data[text->count] = '\0';
  return true;
}

static bool read_path(Heap *heap, const char *path, int *descriptor, TextVec *text) {
  struct stat info;
  *descriptor = reading_open(path);
  if (*descriptor < 0 || fstat(*descriptor, &info) != 0) return false;
  if (info.st_size > INT32_MAX - 2) {
    errno = EFBIG;
    return false;
  }
  return read_all(heap, *descriptor, (uint32_t)info.st_size + 1, text);
}

char *file_read(Heap *heap, Diags *diags, const char *path, uint32_t *length) {
  TextVec text = {0};
  int *descriptor = heap_alloc(heap, sizeof *descriptor);
  *descriptor = -1;
  void *ticket = heap_defer(heap, close_descriptor, descriptor);
  bool good = read_path(heap, path, descriptor, &text);
  int error = errno;
  heap_release(heap, ticket);
  heap_free(heap, descriptor);
  if (!good) {
    diag_file_error(diags, "read", path, error);
    vec_free(heap, &text);
    return NULL;
  }
  *length = text.count;
  return text.data;
}
