/* signals: see signals.h. A blocked signal becomes pending even if it is ignored, so ignored signals are not blocked. */
#include "base/signals.h"

#include <stddef.h>

static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
enum { ENDING_COUNT = sizeof ENDING / sizeof *ENDING };

SignalHold signals_hold(void) {
  SignalHold hold = {.holds = true};
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  sigemptyset(&hold.held);
  for (int i = 0; i < ENDING_COUNT; i++) {
    struct sigaction action;
    if (sigaction(ENDING[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN && !sigismember(&before, ENDING[i]))
      sigaddset(&hold.held, ENDING[i]);
  }
  pthread_sigmask(SIG_BLOCK, &hold.held, NULL);
  return hold;
}

bool signals_waiting(const SignalHold *hold) {
  sigset_t pending;
  if (!hold->holds || sigpending(&pending) != 0) return false;
  for (int i = 0; i < ENDING_COUNT; i++)
    if (ENDING[i] != SIGXFSZ && sigismember(&hold->held, ENDING[i]) && sigismember(&pending, ENDING[i])) return true;
  return false;
}

void signals_release(SignalHold *hold) {
  if (hold->holds) pthread_sigmask(SIG_UNBLOCK, &hold->held, NULL);
  hold->holds = false;
}
