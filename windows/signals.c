/* signals: replaces src/base/signals.c. An interrupt arrives in a separate thread and cannot be delayed. */
#include "base/signals.h"

SignalHold signals_hold(void) { return (SignalHold){0}; }

bool signals_waiting(const SignalHold *hold) { return hold->holds; }

void signals_release(SignalHold *hold) { hold->holds = false; }
