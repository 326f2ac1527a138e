/* resume: writes the state of a run during the run (result/part.h), and continues a run from such a file. */
#include "api/handles.h"

#include "base/map.h"
#include "result/part.h"

#include <math.h>

static const double PART_SHARE = 0.1; /* the largest fraction of the time that writing may take */
enum { LOOK_STEPS = 16 };

/* A hash of everything that determines the equations of a run, and so the meaning of its state. Values are part of the state
 * itself. */
static uint64_t hash_run(const daedal_result *result, const daedal_options *options) {
  uint64_t hash = hash_text(hash_text(model_flat_hash(result->model), DAEDAL_VERSION), options->method);
  return hash_inputs(hash, options);
}

bool resume_begin(daedal_result *result, const daedal_options *options, Request *request) {
  if (!options->resumes || !options->part_path) return true;
  PartContent *earlier = heap_alloc(result->heap, sizeof *earlier);
  Resumption *resumption = heap_alloc(result->heap, sizeof *resumption);
  if (!part_read(result->heap, options->part_path, earlier)) {
    diag_error(&result->diags, DIAG_FILE_CONTENT, (Span){0}, "there is nothing to resume in '%s'", options->part_path);
    return false;
  }
  if (earlier->run != hash_run(result, options))
    return refuse_usage(result, "the run cannot be resumed: its model, method, inputs or version differ");
  *resumption = (Resumption){&earlier->state, earlier->rows, earlier->count};
  request->resumption = resumption;
  result->earlier = earlier;
  return true;
}

void part_begin(Bridge *bridge) {
  const daedal_options *options = bridge->options;
  daedal_result *result = bridge->result;
  bridge->interval = isnan(options->part_interval) ? 1 : options->part_interval;
  if (options->part_path) bridge->part = part_new(result->heap, options->part_path, result->earlier);
}

/* Resuming a run repeats its preparation. So the first writing waits until the run has taken as long as its preparation. */
static double first_interval(const Bridge *bridge) {
  const Seconds *seconds = &bridge->result->simulation.facts.seconds;
  double prepared = bridge->result->model->seconds_parse + seconds->structure + seconds->code + seconds->init;
  return isnan(bridge->options->part_interval) ? fmax(bridge->interval, prepared) : bridge->interval;
}

/* Is it time to write? Reading the clock takes a considerable part of the time of a short step. So the clock is read after every
 * step only if
 * few steps take a tenth of the interval. */
static bool is_due(Bridge *bridge, double *now) {
  if (++bridge->steps < bridge->look) return false;
  *now = pipeline_clock();
  if (bridge->next == 0) bridge->next = *now + first_interval(bridge);
  bridge->look = *now - bridge->looked < 0.1 * bridge->interval ? LOOK_STEPS : 1;
  bridge->looked = *now;
  bridge->steps = 0;
  return *now >= bridge->next;
}

/* A stopped run always writes its state, however short it was, so that it can be continued. */
void part_step(Bridge *bridge, double time, bool stops) {
  daedal_result *result = bridge->result;
  double now = bridge->looked;
  if (!(is_due(bridge, &now) || stops) || !result->simulation.recorder) return;
  if (!bridge->run) bridge->run = hash_run(result, bridge->options);
  Transfer state = {.heap = result->heap};
  bool is_state = simulation_write(&result->simulation, time, &state);
  part_write(bridge->part, &result->diags, result->simulation.recorder->trajectory, bridge->run,
             is_state ? &state : NULL);
  vec_free(result->heap, &state.bytes);
  double after = pipeline_clock();
  bridge->next = after + fmax(bridge->interval, (after - now) / PART_SHARE);
}
