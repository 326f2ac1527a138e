/* signals: in the place of src/base/signals.c. An interrupt comes to a thread of its own and cannot wait. */
#include "base/signals.h"

SignalHold signals_hold(void) { return (SignalHold){0}; }

bool signals_waiting(const SignalHold *hold) { return hold->holds; }

void signals_release(SignalHold *hold) { hold->holds = false; }
