/* turns: conditions that change at one time, in a run with sensitivities. The time of each moves by a derivative of its own, so that the
 * event is passed as several at the same time, one after the other, in which those that have not had their turn wait. Behind it the solution has a
 * derivative if the order makes no difference; other orders are passed too, to see. */
#pragma once

#include "view/view.h"

/* As events_settle, with turns where several conditions change whose times move differently. */
bool turns_settle(View *view, double *t, double *y, uint32_t mode);
