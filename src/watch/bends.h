/* bends: the kinks of a view (segment/kinks.h). */
#pragma once

#include "segment/kinks.h"
#include "view/view.h"

/* Watches kinks in a run with this tolerance; NULL: the equations have no kinks. Lives in the heap. From then on the system of the
 * view reports steps over bends. */
Kinks *bends_watch(Heap *heap, View *view, double start, double tolerance);
