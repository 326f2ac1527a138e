/* terminal: questions to the environment, asked anew each time; nothing is remembered. */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *const sequences[] = {
    [STYLE_NONE] = "\033[0m",       [STYLE_BOLD] = "\033[1m",    [STYLE_ERROR] = "\033[1;31m",
    [STYLE_WARNING] = "\033[1;35m", [STYLE_NOTE] = "\033[1;36m", [STYLE_CARET] = "\033[1;32m",
};

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
