/* output: a missing descriptor is replaced by one on which every write fails, so that a closed standard output is noticed like a
 * full one. */
#include "cli/output.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "daedal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void output_begin(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0) (void)!open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

static int lost_error; /* errno of the first lost bytes; 0: none were lost */

bool output_bytes(const void *bytes, size_t length) {
  errno = 0;
  if (isatty(STDOUT_FILENO)) terminal_write(stdout, bytes, length, true);
  else fwrite(bytes, 1, length, stdout);
  if (ferror(stdout) && !lost_error) lost_error = errno;
  return !ferror(stdout);
}

void output_text(const char *text) {
  size_t length = strlen(text);
  output_bytes(text, length);
  if (length > 0 && text[length - 1] != '\n') fputc('\n', stdout);
}

int output_end(int status) {
  errno = 0;
  int lost = fflush(stdout) != 0 || ferror(stdout);
  if (!lost) return status;
  int error = lost_error ? lost_error : errno;
  say_error("D701", "cannot write to standard output%s%s%s", error ? ": " : "", error ? strerror(error) : "",
            error == ENOSPC  ? "; the disk is full"
            : error == EPIPE ? "; the program that reads it ended early"
                             : "");
  return status ? status : DAEDAL_FILE;
}
