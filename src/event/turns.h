/* turns: conditions that change at the same time in a run with sensitivities. The time of each depends on parameters, with
 * different derivatives. So the event is handled as several events at the same time, one after another. Conditions wait until
 * their turn comes. After it the solution has a derivative if the order makes no difference. Other orders are tried to check
 * that. */
#pragma once

#include "view/view.h"

/* Like events_settle, with turns if several conditions change at times that move differently. */
bool turns_settle(View *view, double *t, double *y, uint32_t mode);
