/* equations: the model of a circuit. */
#pragma once

#include "spice/network.h"

/* The equations of a run over time. */
bool write_transient(Circuit *circuit, const Network *network);

/* The current of a switch with hysteresis, whose state becomes a variable of the model. */
Expr switch_current(Circuit *circuit, Model *model, const Branch *branch);

/* The equations of an operating point: capacitors are open, inductors are shorts. The model has the circuit's present variables.
 * holds_guesses: the nodes of .nodeset are held, and there are no warnings. */
Model *write_operating_point(Circuit *circuit, bool holds_guesses);
