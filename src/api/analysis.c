/* analysis: structure and its reports. */
#include "api/handles.h"

#include "array/state_preference.h"
#include "reduce/redundancy.h"
#include "result/analysis_report.h"
#include "result/diagnostics_report.h"

/* Prepares the system as a plan does (pipeline/plan.c), with the model's start values and start time. */
static bool release(Problem *problem, Structure *structure, const double *parameters, ConversionVec *conversions,
                    Arena *arena, Diags *diags) {
  const Experiment *experiment = &problem->model->experiment;
  Modes *modes = arena_alloc(arena, sizeof *modes);
  MethodOptions options = {.rank_tolerance = NAN};
  *modes = modes_extract(problem, arena);
  Redundancy redundancy;
  Strangeness strangeness = {.heap = arena->heap,
                             .arena = arena,
                             .diags = diags,
                             .problem = *problem,
                             .parameters = parameters,
                             .modes = modes,
                             .rank_tolerance = strangeness_tolerance(&options)};
  return redundancy_replace(&strangeness, experiment->has_start ? experiment->start : 0, problem, structure,
                            conversions, &redundancy);
}

static bool work_analyze(daedal_model *model, const void *argument) {
  (void)argument;
  if (!model->model || model->analysis) return model->model != NULL;
  double begin = pipeline_clock();
  report_class_balance(model, &model->diags);
  Analysis *analysis = model->analysis =
      analysis_run(model_layer(model->model, model->heap), release, &model->arena, &model->diags);
  analysis->topology = model->circuit.topology;
  analysis->seconds_parse = model->seconds_parse;
  analysis->seconds_structure = pipeline_clock() - begin;
  const Structure *structure = &analysis->structure;
  bool ok = structure->status == STRUCTURE_OK;
  bool discrete_ok = model_check_discrete(model->model, model->heap, &model->diags);
  model_warn_constants(model->model, &model->diags);
  bool preferences_ok = !ok || state_preference_check_model(analysis->problem.model, &model->arena, &model->diags);
  bool is_sound = analysis->curable && discrete_ok && preferences_ok;
  model->figures = (daedal_analysis){.status = !is_sound             ? DAEDAL_STRUCTURE
                                               : analysis->can_reset ? DAEDAL_OK
                                                                     : DAEDAL_INPUT,
                                     .verdict = discrete_ok ? analysis_verdict(analysis) : "unbalanced",
                                     .equations = (uint32_t)structure->n_equations,
                                     .variables = (uint32_t)structure->n_variables,
                                     .structural_index = structure->structural_index,
                                     .dof = structure->dof,
                                     .differentiations = structure->differentiations,
                                     .c = ok ? structure->c : NULL,
                                     .d = ok ? structure->d : NULL,
                                     .blocks = ok ? (uint32_t)structure->blocks.n_blocks : 0,
                                     .aliases = analysis->aliases};
  return true;
}

static daedal_analysis analysis_of(daedal_model *model) {
  if (!model_protect(model, work_analyze, NULL))
    return (daedal_analysis){.status = api_model_status(model), .verdict = "input"};
  return model->figures;
}

void daedal_analyze_(daedal_model *model, daedal_analysis *out, size_t size) {
  daedal_analysis value = analysis_of(model);
  hand_out(out, size, &value, sizeof value);
}

typedef void (*AnalysisReport)(Analysis *analysis, Heap *heap, TextVec *text);

/* A report that is made when it is first needed. */
typedef struct AnalysisReportRequest {
  AnalysisReport print;
  TextVec *text;
} AnalysisReportRequest;

static bool work_report(daedal_model *model, const void *argument) {
  const AnalysisReportRequest *request = argument;
  if (!work_analyze(model, NULL)) return false;
  if (!request->text->count) request->print(model->analysis, model->heap, request->text);
  return true;
}

/* Works for a refused model, too: the report contains its messages. */
static bool work_json(daedal_model *model, const void *argument) {
  (void)argument;
  if (model->json.count) return true;
  if (work_analyze(model, NULL)) analysis_report_json(model->analysis, model->heap, &model->json);
  else text_printf(model->heap, &model->json, "%s", analysis_report_nothing);
  diagnostics_report_json(&model->source, &model->diags, NULL, model->heap, &model->json);
  return true;
}

static const char *report(daedal_model *model, AnalysisReport print, TextVec *text) {
  AnalysisReportRequest request = {print, text};
  return model_protect(model, work_report, &request) ? text->data : NULL;
}

const char *api_analysis_text(daedal_model *model) {
  return model ? report(model, analysis_report_text, &model->text) : NULL;
}

const char *api_analysis_json(daedal_model *model) {
  if (!model) return analysis_report_nothing;
  return model_protect(model, work_json, NULL) ? model->json.data : NULL;
}

const char *api_analysis_svg(daedal_model *model) {
  return model ? report(model, analysis_report_svg, &model->svg) : NULL;
}
