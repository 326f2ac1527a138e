/* signal_choice: which signals of a table a picture shows. */
#pragma once

#include "result/signal.h"
#include "result/signal_filter.h"

enum { MOST_SERIES = 24 }; /* the most that a readable picture can show */

/* The signals that match. Without a filter (NULL), the default: for a netlist the voltages of its nodes, for other models states
 * and outputs; if there are none, everything except parameters and derivatives. Each column occurs once. Fills `chosen`, which has
 * room for all, and returns their number. O(signals). */
uint32_t signals_choose(const SignalTable *signals, const SignalFilter *filter, uint32_t *chosen);
