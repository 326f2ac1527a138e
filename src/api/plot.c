/* plot: pictures of the trajectory. */
#include "api/handles.h"

#include "result/plot.h"

typedef struct PlotRequest {
  const char *variables;
  uint32_t width, height; /* 0: SVG */
} PlotRequest;

/* The signals that match, or the states, or if there is none everything but parameters; at most a readable number. */
static uint32_t choose_signals(daedal_result *result, const SignalFilter *filter, uint32_t *chosen) {
  enum { MOST = 24 };
  const SignalTable *signals = recorder_of(result)->signals;
  uint32_t count = 0;
  for (int pass = 0; pass < 2 && !count; pass++) {
    for (uint32_t s = 0; s < signals->list.count && count < MOST; s++) {
      const Signal *signal = &signals->list.data[s];
      bool wanted = filter ? signal_filter_match(filter, signal->name)
                           : signal->kind == SIGNAL_STATE || (pass && signal->kind != SIGNAL_PARAMETER);
      if (wanted) chosen[count++] = s;
    }
  }
  return count;
}

/* Times of events behind the start. */
static void add_events(const daedal_result *result, Arena *arena, Plot *plot) {
  const EventVec *passed = &result->simulation.statistics.stepper.passed;
  double *times = arena_array(arena, passed->count, sizeof *times);
  for (uint32_t k = 0; k < passed->count; k++)
    if (passed->data[k].cause != EVENT_START) times[plot->events++] = passed->data[k].time;
  plot->event = times;
}

static bool work_plot(daedal_result *result, const void *argument) {
  const PlotRequest *request = argument;
  const SignalFilter *filter = NULL;
  if (request->variables && !(filter = signal_filter_new(result->heap, &result->diags, request->variables))) {
    publish_result(result);
    return false;
  }
  Arena arena = arena_make(result->heap);
  uint32_t *chosen = arena_array(&arena, recorder_of(result)->signals->list.count, sizeof *chosen);
  uint32_t count = choose_signals(result, filter, chosen);
  Plot plot = plot_signals(&arena, recorder_of(result)->trajectory, daedal_model_name(result->model), chosen, count);
  add_events(result, &arena, &plot);
  result->plot.count = result->terminal.count = 0;
  if (request->width) plot_text(result->heap, &plot, request->width, request->height, &result->terminal);
  else plot_svg(result->heap, &plot, &result->plot);
  arena_free(&arena);
  return true;
}

const char *daedal_result_plot(daedal_result *result, const char *variables) {
  PlotRequest request = {.variables = variables};
  return recorder_of(result) && result_protect(result, work_plot, &request) ? result->plot.data : NULL;
}

const char *daedal_result_plot_terminal(daedal_result *result, const char *variables, uint32_t width, uint32_t height) {
  PlotRequest request = {variables, width ? width : 80, height};
  return recorder_of(result) && result_protect(result, work_plot, &request) ? result->terminal.data : NULL;
}
