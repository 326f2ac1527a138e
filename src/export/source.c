/* source: see source.h. */
#include "export/source.h"

static bool refuse(const ExportSource *source, Diags *diags, const char *what, const char *name) {
  diag_error(diags, DIAG_STRUCTURE, (Span){0}, "the solver of %s cannot be exported: %s%s%s", source->name, what,
             name ? " " : "", name ? name : "");
  return false;
}

bool export_possible(const ExportSource *source, Diags *diags) {
  const Model *model = source->evaluator->model;
  const Logic *logic = source->evaluator->code->modes->logic;
  if (logic->delays.count)
    return refuse(source, diags, "it looks back in time, by",
                  model_text(evaluator_model(source->evaluator), logic->delays.data[0].written, &diags->arena));
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    const Variable *variable = &model->variables.data[model->parameters.data[p]];
    if (variable->type == TYPE_EXTERNAL_OBJECT)
      return refuse(source, diags, "it needs the external object", model_name(model, model->parameters.data[p]));
  }
  for (uint32_t k = 0; k < model->inputs.count; k++)
    if (model->inputs.data[k].kind != INPUT_SET)
      return refuse(source, diags, "a table or function of this program gives the input",
                    model_name(model, model->inputs.data[k].variable));
  for (uint32_t k = 0; k < logic->initial_steps.count; k++)
    if (logic->initial_steps.data[k].is_parameter)
      return refuse(source, diags, "an initial equation gives the parameter",
                    model_name(model, model->parameters.data[logic->initial_steps.data[k].leaf]));
  return true;
}

bool export_restarts(const ExportSource *source) {
  return source->initial->way == WAY_STATES && !source->is_fixed && source->initial->column;
}
