/* state_form: see state_form.h. */
#include "core/state_form.h"

static EvalStatus slide(StateForm *form, double t, double *y) {
  int count = form->edges->now->slides + 1;
  if (count > form->room) {
    if (form->corners) heap_free(form->heap, form->corners);
    form->corners = heap_array(form->heap, (size_t)count * (size_t)form->columns, sizeof(double));
    form->room = count;
  }
  return statespace_slide(form->space, form->edges, form->columns, t, y, form->corners);
}

static bool slides(const StateForm *form) { return form->edges && form->edges->now->slides > 0; }

EvalStatus state_form_find(StateForm *form, double t, double *y) {
  return slides(form) ? slide(form, t, y) : statespace_complete(form->space, t, y);
}

EvalStatus state_form_follow(StateForm *form, double t, double *y) {
  return slides(form) ? slide(form, t, y) : statespace_follow(form->space, t, y);
}

EvalStatus state_form_rates(StateForm *form, double t, double *y) {
  return slides(form) ? slide(form, t, y) : statespace_rates(form->space, t, y);
}

EvalStatus state_form_corner(StateForm *form, double t, double *y) { return statespace_complete(form->space, t, y); }

static void choose(StateForm *form) { statespace_choose(form->space, dummy_depth(form->dummy)); }

EvalStatus state_form_pass(StateForm *form, double t, double *y) {
  int32_t block;
  if (dummy_watch(form->dummy, t, y, &block) > 0) choose(form);
  return state_form_find(form, t, y);
}

EvalStatus state_form_select(StateForm *form, double t, double *y) {
  int32_t block;
  bool is_regular = dummy_select(form->dummy, t, y, &block);
  choose(form);
  return is_regular ? EVAL_OK : EVAL_DOMAIN;
}

bool state_form_hold(StateForm *form, double t, double *y, const uint8_t *held, int32_t *block) {
  if (!dummy_select_holding(form->dummy, t, y, held, block)) return false;
  choose(form);
  return state_form_find(form, t, y) == EVAL_OK;
}

int32_t state_form_exchange(StateForm *form, double t, double *y, double t_ahead, const double *ahead, int32_t *block) {
  int32_t count = dummy_watch(form->dummy, t_ahead, ahead, block);
  if (count < 0) return EXCHANGE_SINGULAR;
  if (count && state_form_follow(form, t, y) != EVAL_OK) return EXCHANGE_UNSOLVED;
  if (count) choose(form);
  return count;
}

void state_form_restore(StateForm *form, const int32_t *depth) {
  dummy_restore(form->dummy, depth);
  statespace_forget(form->space);
  choose(form);
}
