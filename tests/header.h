/* header: the functions that daedal.h declares, for tests that must try each of them. Include it after cmocka.h. */
#ifndef DAEDAL_TESTS_HEADER_H
#define DAEDAL_TESTS_HEADER_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the name, without daedal_, one that the test knows? */
typedef bool (*HeaderKnows)(const char *name);

/* The functions that a line declares or mentions: daedal_NAME( . */
static inline void header_check_line(char *line, HeaderKnows knows) {
  for (char *p = strstr(line, "daedal_"); p; p = strstr(p, "daedal_")) {
    char *name = p += strlen("daedal_");
    while (isalnum((unsigned char)*p) || *p == '_') p++;
    if (*p != '(' || p[-1] == '_') continue; /* functions that are called by inline functions end in an underscore */
    *p++ = '\0';
    if (!knows(name)) fail_msg("daedal_%s is missing in this test", name);
  }
}

static inline void header_check(HeaderKnows knows) {
  char path[600], line[300];
  const char *source = getenv("SOURCE_DIR");
  snprintf(path, sizeof path, "%s/include/daedal.h", source ? source : ".");
  FILE *header = fopen(path, "r");
  assert_non_null(header);
  while (fgets(line, sizeof line, header)) header_check_line(line, knows);
  fclose(header);
}

static inline bool header_among(const char *name, const char *const *names, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (strcmp(names[k], name) == 0) return true;
  return false;
}

#endif
