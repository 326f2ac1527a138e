/* terminal: asks the environment each time; nothing is cached. */
#include "cli/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *const sequences[] = {
    [STYLE_NONE] = "\033[0m",       [STYLE_BOLD] = "\033[1m",    [STYLE_ERROR] = "\033[1;31m",
    [STYLE_WARNING] = "\033[1;35m", [STYLE_NOTE] = "\033[1;36m", [STYLE_CARET] = "\033[1;32m",
};

/* The number of bytes of the control character at the beginning, including U+0080 to U+009F; 0 if it is not a control character. */
static size_t control_length(const char *bytes, size_t length, bool lines) {
  unsigned char first = (unsigned char)bytes[0], second = length > 1 ? (unsigned char)bytes[1] : 0;
  if (lines && (first == '\n' || first == '\t')) return 0;
  if (first < 0x20 || first == 0x7f) return 1;
  return first == 0xc2 && second >= 0x80 && second <= 0x9f ? 2 : 0;
}

void terminal_write(FILE *file, const char *bytes, size_t length, bool lines) {
  const char *end = bytes + length, *run = bytes;
  while (bytes < end) {
    size_t control = control_length(bytes, (size_t)(end - bytes), lines);
    if (!control) {
      bytes++;
      continue;
    }
    fwrite(run, 1, (size_t)(bytes - run), file);
    bytes += control;
    if (bytes[-1] == '\n') fputs("\\n", file);
    else fprintf(file, "\\x%02x", (unsigned char)bytes[-1]);
    run = bytes;
  }
  fwrite(run, 1, (size_t)(end - run), file);
}

void terminal_say(const char *format, ...) {
  va_list values;
  char line[8192];
  va_start(values, format);
  vsnprintf(line, sizeof line, format, values);
  va_end(values);
  terminal_write(stderr, line, strlen(line), false);
  fputc('\n', stderr);
}

bool terminal_is_watched(void) {
  const char *kind = getenv("TERM");
  return isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
}

const char *terminal_style(Style style) {
  const char *refused = getenv("NO_COLOR");
  return terminal_is_watched() && !(refused && *refused) ? sequences[style] : "";
}

unsigned terminal_width(void) {
  struct winsize size = {0};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  return size.ws_col >= 40 ? size.ws_col : 80;
}
