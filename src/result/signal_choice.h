/* signal_choice: what a picture shows of a table of signals. */
#pragma once

#include "result/signal.h"
#include "result/signal_filter.h"

enum { MOST_SERIES = 24 }; /* that a picture can show and be read */

/* The signals that match, or without a filter (NULL) those shown by default: of a netlist the voltages of its nodes, of
 * other models states and outputs; if there are none, everything but parameters and derivatives. Each column once. Fills `chosen`, which
 * has room for all, and returns how many there are. O(signals). */
uint32_t signals_choose(const SignalTable *signals, const SignalFilter *filter, uint32_t *chosen);
