/* resume: the state of a run in progress for another program, which continues from there. */
#include "pipeline/parts.h"

#include "external/external.h"

/* Objects of the user's libraries may have changed since they were made. */
static bool has_own_objects(const Simulation *simulation) {
  const Model *model = simulation->plan->model;
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    if (model->variables.data[model->parameters.data[p]].type != TYPE_EXTERNAL_OBJECT) continue;
    const ExternalInstance *object = external_instance(simulation->system.evaluator->parameters[p]);
    if (!object || !object->is_shared) return true;
  }
  return false;
}

bool simulation_write(Simulation *simulation, double time, Transfer *transfer) {
  const double *y;
  bool is_under_way = simulation->run && run_event(simulation->run, &y) == time;
  if (!is_under_way || simulation->statistics.replans || simulation->view->sensitivity || has_own_objects(simulation))
    return false;
  transfer_value(transfer, &external_state(simulation->heap)->seed);
  run_write(simulation->run, transfer);
  return !transfer->is_broken;
}

bool simulation_take_up(Simulation *simulation) {
  const Resumption *resumption = simulation->request.resumption;
  Transfer *transfer = resumption->state;
  uint32_t said = simulation->diags->list.count;
  transfer_value(transfer, &external_state(simulation->heap)->seed);
  bool ok = run_read(simulation->run, transfer);
  recorder_take_rows(simulation->recorder, resumption->rows, ok ? resumption->count : 0);
  if (!ok && simulation->diags->list.count == said)
    diag_error(simulation->diags, DIAG_USAGE, (Span){0},
               "the run cannot be resumed: it was one with other parameters, start time or output points");
  return ok;
}
