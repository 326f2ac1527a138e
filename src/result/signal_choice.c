/* signal_choice: see signal_choice.h. */
#include "result/signal_choice.h"

#include <string.h>

/* `v(out)`, but not an inner node of a device, `v(d1#pi)`, nor a difference, `v(a,b)`. */
static bool is_node(const Signal *signal) {
  return !strncmp(signal->name, "v(", 2) && !signal->name[strcspn(signal->name, "#,")];
}

/* The signals that are shown by default: the first of these groups that exists. CSV files do not say which signals are
 * states, but a state has a derivative in the file. */
typedef enum Default {
  DEFAULT_NODES,
  DEFAULT_STATES,
  DEFAULT_DIFFERENTIATED,
  DEFAULT_VALUES,
  DEFAULT_ALL,
  DEFAULTS
} Default;

/* Does the model have the derivative of this variable by its own name? */
static bool is_differentiated(const SignalTable *signals, const char *name) {
  TextVec text = {0};
  text_printf(signals->heap, &text, "der(%s)", name);
  bool is_there = signals_find(signals, text.data) != MAP_NONE;
  vec_free(signals->heap, &text);
  return is_there;
}

static bool is_default(const SignalTable *signals, const Signal *signal, Default choice) {
  switch (choice) {
  case DEFAULT_NODES: return is_node(signal);
  case DEFAULT_STATES: return signal->kind == SIGNAL_STATE || signal->is_output;
  case DEFAULT_DIFFERENTIATED: return is_differentiated(signals, signal->name);
  case DEFAULT_VALUES: return signal->kind != SIGNAL_PARAMETER && signal->kind != SIGNAL_DERIVATIVE;
  default: return signal->kind != SIGNAL_PARAMETER;
  }
}

static uint32_t count_dots(const char *name) {
  uint32_t count = 0;
  for (; *name; name++) count += *name == '.';
  return count;
}

/* If a column has two names, the one with fewer components is better: `inertia.phi`, not `inertia.flange_a.phi`. If both have
 * equally many, the one whose derivative exists is better: `inertia.w`, not `controller.u`, which only measures the speed. */
static bool is_better_name(const SignalTable *signals, const char *name, const char *than) {
  uint32_t dots = count_dots(name), least = count_dots(than);
  if (dots != least) return dots < least;
  return !is_differentiated(signals, than) && is_differentiated(signals, name);
}

/* Chooses each column once, by its best name. */
static uint32_t choose_default(const SignalTable *signals, Default choice, Heap *heap, uint32_t *chosen) {
  uint32_t count = 0, *best = heap_array(heap, signals->columns, sizeof *best); /* 1 + its number; 0: none */
  for (uint32_t s = 0; s < signals->list.count; s++) {
    const Signal *signal = &signals->list.data[s];
    if (signal->column == SIGNAL_CONSTANT || !is_default(signals, signal, choice)) continue;
    uint32_t *known = &best[signal->column];
    if (!*known || is_better_name(signals, signal->name, signals->list.data[*known - 1].name)) *known = s + 1;
  }
  for (uint32_t s = 0; s < signals->list.count; s++) {
    const Signal *signal = &signals->list.data[s];
    bool is_constant = signal->column == SIGNAL_CONSTANT;
    if (is_constant ? is_default(signals, signal, choice) : best[signal->column] == s + 1) chosen[count++] = s;
  }
  heap_free(heap, best);
  return count;
}

uint32_t signals_choose(const SignalTable *signals, const SignalFilter *filter, uint32_t *chosen) {
  uint32_t count = 0;
  for (Default choice = 0; !filter && choice < DEFAULTS && !count; choice++)
    count = choose_default(signals, choice, signals->heap, chosen);
  for (uint32_t s = 0; filter && s < signals->list.count; s++)
    if (signal_filter_match(filter, signals->list.data[s].name)) chosen[count++] = s;
  return count;
}
