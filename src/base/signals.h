/* signals: holds back signals that ask the program to end, in this thread, while something exists that must not be left behind: a
 * half-written file, a directory of temporary files. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* The signals that one call of signals_hold made wait; none where all zero. */
typedef struct SignalHold {
  bool holds;
  sigset_t held;
} SignalHold;

/* Lets SIGINT, SIGTERM, SIGHUP and SIGXFSZ wait, except those that are ignored or already wait. Holds nest: the last
 * one made is released first. */
SignalHold signals_hold(void);

/* Has one of the held signals arrived, other than SIGXFSZ? Then the work should be given up. */
bool signals_waiting(const SignalHold *hold);

/* What came meanwhile takes its effect now. */
void signals_release(SignalHold *hold);
