/* signals: delays signals that end the program, in this thread, while something exists that must be removed first,
 * such as a half-written file or a temporary directory. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* The signals that one call of signals_hold blocked; all zero: none. */
typedef struct SignalHold {
  bool holds;
  sigset_t held;
} SignalHold;

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGXFSZ, except those that are ignored or already blocked. Holds nest: the last one made is
 * released first. */
SignalHold signals_hold(void);

/* Has one of the held signals arrived, other than SIGXFSZ? Then the work should stop. */
bool signals_waiting(const SignalHold *hold);

/* Delivers the signals that arrived meanwhile. */
void signals_release(SignalHold *hold);
