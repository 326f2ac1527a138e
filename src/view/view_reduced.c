/* view_reduced: chooses the view for the system that a method made. */
#include "view/view.h"

View *view_reduced(Heap *heap, const Reduction *reduction, const ArrayRun *original, const ArrayRun *run) {
  const Reduced *reduced = &reduction->reduced;
  View *view = (reduced->structure ? view_dummy : view_plain)(heap, reduction, original, run);
  view->original = original->evaluator;
  view->mode = reduced->mode;
  view->source = reduced->source;
  view->sign = reduced->sign;
  return view;
}
