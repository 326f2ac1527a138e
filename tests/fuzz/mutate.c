/* mutate RUNS PATH...: runs a fuzz target on files and on mutations of them, without libFuzzer.
 *
 * Each PATH is a file or a folder of files. The target sees every file once, and then RUNS mutations (in the quick tier a fifth of
 * both) by the target's own mutator. Without one, a file gets one to four changes, each of which removes, repeats or overwrites
 * bytes, or inserts a piece of another file. The mutations depend on the files only, so a run can be repeated. A finding aborts;
 * the input is left in the file finding-mutate. tools/fuzz is guided by coverage; this program needs no separate build, and the
 * quick tests use it. */
#include "../tier.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 8192, MOST_FILES = 4096, MOST_CHANGES = 4, LONGEST_PIECE = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

typedef struct Text {
  uint8_t *bytes;
  size_t size;
} Text;

static Text files[MOST_FILES];
static size_t file_count;
static Text current; /* the input of the target, for the handler */

static uint64_t random_state = 0x9e3779b97f4a7c15u;

/* Below the limit (xorshift64*, Vigna 2016). */
static size_t draw(size_t limit) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return limit ? (size_t)(random_state * 0x2545f4914f6cdd1du >> 33) % limit : 0;
}

static void keep_input(void) {
  FILE *file = fopen("finding-mutate", "wb");
  if (!file) return;
  fwrite(current.bytes, 1, current.size, file);
  fclose(file);
}

static void keep_finding(int signal_number) {
  keep_input();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || file_count == MOST_FILES) return;
  Text text = {.bytes = malloc(LONGEST)};
  text.size = text.bytes ? fread(text.bytes, 1, LONGEST, file) : 0;
  fclose(file);
  files[file_count++] = text;
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* The files of a folder in the order of their names, which is the same on every machine. */
static void read_path(const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, compare_names);
  if (count < 0) read_file(path);
  for (int k = 0; k < count; k++) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, entries[k]->d_name);
    if (entries[k]->d_type == DT_REG) read_file(name);
    free(entries[k]);
  }
  if (count >= 0) free(entries);
}

static void remove_bytes(Text *text, size_t at, size_t length) {
  memmove(text->bytes + at, text->bytes + at + length, text->size - at - length);
  text->size -= length;
}

static void insert_bytes(Text *text, size_t at, const uint8_t *bytes, size_t length) {
  if (text->size + length > LONGEST) return;
  memmove(text->bytes + at + length, text->bytes + at, text->size - at);
  memcpy(text->bytes + at, bytes, length);
  text->size += length;
}

static void change_once(Text *text) {
  const Text *other = &files[draw(file_count)];
  uint8_t piece[LONGEST_PIECE];
  size_t at = draw(text->size + 1), left = text->size - at;
  size_t length = draw(left < LONGEST_PIECE ? left + 1 : LONGEST_PIECE);
  size_t from = draw(other->size + 1), there = other->size - from;
  size_t copied = draw(there < LONGEST_PIECE ? there + 1 : LONGEST_PIECE);
  switch (draw(5)) {
  case 0: remove_bytes(text, at, length); break;
  case 1: /* inserts the piece again at another place */
    memcpy(piece, text->bytes + at, length);
    insert_bytes(text, draw(text->size + 1), piece, length);
    break;
  case 2: insert_bytes(text, at, other->bytes + from, copied); break;
  case 3: /* replaces a piece by a piece of another file */
    remove_bytes(text, at, length);
    insert_bytes(text, at, other->bytes + from, copied);
    break;
  default:
    if (left) text->bytes[at] = (uint8_t)draw(256);
  }
}

static void mutate(Text *text) {
  if (LLVMFuzzerCustomMutator)
    text->size = LLVMFuzzerCustomMutator(text->bytes, text->size, LONGEST, (unsigned)draw(UINT32_MAX));
  else
    for (size_t n = 1 + draw(MOST_CHANGES); n; n--) change_once(text);
}

/* The target gets a block of exactly this size, so that a sanitizer sees a read beyond its end. */
static void run_target(const uint8_t *bytes, size_t size) {
  current.bytes = malloc(size ? size : 1);
  if (!current.bytes) exit(1);
  memcpy(current.bytes, bytes, size);
  current.size = size;
  LLVMFuzzerTestOneInput(current.bytes, size);
  free(current.bytes);
}

int main(int count, char **words) {
  if (count < 3) {
    fprintf(stderr, "usage: %s RUNS PATH...\n", words[0]);
    return 2;
  }
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&count, &words);
  static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) signal(signals[k], keep_finding);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
  for (int k = 2; k < count; k++) read_path(words[k]);
  size_t stride = tier_stride(1, 5);
  for (size_t k = 0; k < file_count; k += stride) run_target(files[k].bytes, files[k].size);
  unsigned long runs = file_count ? strtoul(words[1], NULL, 10) / stride : 0;
  uint8_t bytes[LONGEST];
  for (unsigned long k = 0; k < runs; k++) {
    const Text *seed = &files[draw(file_count)];
    Text text = {bytes, seed->size};
    memcpy(bytes, seed->bytes, seed->size);
    mutate(&text);
    run_target(text.bytes, text.size);
  }
  printf("no finding in %zu files and %lu mutations\n", file_count, runs);
  for (size_t k = 0; k < file_count; k++) free(files[k].bytes);
  return file_count ? 0 : 1;
}
