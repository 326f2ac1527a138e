/* The interface 1.0 as it was released. Programs that were compiled against it must run with every later library of SOVERSION 1 (test_interface.py). */
#ifndef DAEDAL_H
#define DAEDAL_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif
#define DAEDAL_VERSION "0.2.0"
const char *daedal_version(void);
typedef enum daedal_status {
  DAEDAL_OK = 0,
  DAEDAL_INTERNAL = 1,
  DAEDAL_USAGE = 2,
  DAEDAL_INPUT = 3,
  DAEDAL_STRUCTURE = 4,
  DAEDAL_INIT = 5,
  DAEDAL_INTEGRATION = 6,
  DAEDAL_FILE = 7,
} daedal_status;
typedef enum daedal_severity { DAEDAL_NOTE, DAEDAL_WARNING, DAEDAL_ERROR } daedal_severity;
typedef struct daedal_place {
  const char *path;
  uint32_t line, column, length;
  const char *text;
} daedal_place;
typedef struct daedal_note {
  const char *message;
  daedal_place place;
} daedal_note;
typedef struct daedal_diagnostic {
  daedal_severity severity;
  daedal_status status;
  const char *message;
  daedal_place place;
  const daedal_note *notes;
  uint32_t note_count;
  const char *code;
} daedal_diagnostic;
uint32_t daedal_diagnostic_count(const void *handle);
static inline daedal_diagnostic daedal_diagnostic_get(const void *handle, uint32_t index);
typedef struct daedal_code {
  const char *code, *title, *explanation;
} daedal_code;
static inline daedal_code daedal_code_get(uint32_t index);
typedef struct daedal_value {
  const char *name;
  double value;
} daedal_value;
typedef struct daedal_override {
  const char *name;
  double value;
  const char *text;
} daedal_override;
typedef struct daedal_allocator {
  void *(*resize)(void *context, void *pointer, size_t size);
  void *context;
} daedal_allocator;
daedal_status daedal_status_of(const void *handle);
void daedal_free(void *handle);
typedef enum daedal_report_kind {
  DAEDAL_REPORT_ANALYSIS,
  DAEDAL_REPORT_FLAT,
  DAEDAL_REPORT_RUN,
  DAEDAL_REPORT_INITIAL,
  DAEDAL_REPORT_START_VALUES,
  DAEDAL_REPORT_REDUCED,
  DAEDAL_REPORT_CHOICE,
  DAEDAL_REPORT_COMPARISON,
  DAEDAL_REPORT_LINEAR,
  DAEDAL_REPORT_STEADY,
  DAEDAL_REPORT_SWEEP,
  DAEDAL_REPORT_FIT,
  DAEDAL_REPORT_DIFFERENCE,
  DAEDAL_REPORT_PLAN,
} daedal_report_kind;
typedef enum daedal_format { DAEDAL_TEXT, DAEDAL_JSON } daedal_format;
const char *daedal_report(void *handle, daedal_report_kind kind, daedal_format format);
typedef struct daedal_plot {
  size_t size;
  const char *const *variables;
  const char *const *pairs;
  bool log_x, log_y;
  const daedal_value *deviations;
  uint32_t deviation_count;
  uint32_t width, height;
} daedal_plot;
const char *daedal_draw(void *handle, const daedal_plot *plot);
daedal_status daedal_save(void *handle, const char *path);
typedef bool (*daedal_sink)(void *context, const void *bytes, size_t length);
daedal_status daedal_stream(void *handle, daedal_sink sink, void *context);
daedal_status daedal_write(void *handle, const char *path, const void *bytes, size_t length);
typedef struct daedal_model daedal_model;
daedal_model *daedal_load_file(const char *path, const char *class_name, const daedal_allocator *allocator);
daedal_model *daedal_load_text(const char *text, size_t length, const char *path, const char *class_name,
                               const daedal_allocator *allocator);
typedef struct daedal_load_options {
  size_t size;
  const char *class_name;
  const daedal_allocator *allocator;
  bool strict;
  bool energy;
  const char *const *libraries;
  const char *mna;
  const char *modelica_path;
  bool units;
  const char *readable;
  uint64_t memory_limit, work_limit, text_limit;
  const char *boundary;
  const char *fmu;
} daedal_load_options;
daedal_model *daedal_load(const char *path, const char *text, size_t length, const daedal_load_options *options);
typedef struct daedal_library_counts {
  uint32_t files, classes;
  uint64_t bytes;
} daedal_library_counts;
daedal_model *daedal_check_fmu(const char *path, const daedal_load_options *options);
daedal_model *daedal_parse_libraries(const daedal_load_options *options, daedal_library_counts *counts);
const char *daedal_library_model(const daedal_model *parsed, uint32_t index);
const char *daedal_model_name(const daedal_model *model);
const char *daedal_model_text(const daedal_model *model);
uint32_t daedal_error_count(const daedal_model *model);
typedef enum daedal_kind {
  DAEDAL_KIND_CONSTANT,
  DAEDAL_KIND_PARAMETER,
  DAEDAL_KIND_INPUT,
  DAEDAL_KIND_DISCRETE,
  DAEDAL_KIND_CONTINUOUS
} daedal_kind;
typedef enum daedal_type {
  DAEDAL_TYPE_REAL,
  DAEDAL_TYPE_INTEGER,
  DAEDAL_TYPE_BOOLEAN,
  DAEDAL_TYPE_ENUMERATION,
  DAEDAL_TYPE_STRING,
  DAEDAL_TYPE_OBJECT
} daedal_type;
typedef struct daedal_variable {
  const char *name;
  const char *unit, *display_unit, *description;
  daedal_kind kind;
  daedal_type type;
  bool is_output;
  bool is_structural;
  uint32_t array_length;
  uint32_t dimensions;
} daedal_variable;
uint32_t daedal_variable_count(const daedal_model *model);
static inline daedal_variable daedal_variable_get(const daedal_model *model, uint32_t index);
uint32_t daedal_variable_find(const daedal_model *model, const char *name);
uint32_t daedal_array_sizes(const daedal_model *model, const char *name, uint32_t *sizes, uint32_t most);
typedef struct daedal_counts {
  uint32_t equations, variables;
  uint32_t discrete_equations, discrete_variables;
  uint32_t parameters, functions;
} daedal_counts;
static inline daedal_counts daedal_model_counts(const daedal_model *model);
typedef struct daedal_analysis {
  daedal_status status;
  const char *verdict;
  uint32_t equations, variables;
  int32_t structural_index;
  int64_t dof, differentiations;
  const int32_t *c, *d;
  uint32_t blocks;
  uint32_t aliases;
} daedal_analysis;
static inline daedal_analysis daedal_analyze(daedal_model *model);
typedef struct daedal_progress {
  double time, start_time, stop_time;
  uint64_t steps;
  double csv_bytes;
} daedal_progress;
typedef struct daedal_event {
  double time;
  const char *condition;
  double value;
  int32_t direction;
} daedal_event;
typedef struct daedal_input {
  const char *name;
  double (*value)(void *context, double time, uint32_t order);
  void *context;
  uint32_t orders;
  uint32_t rows;
  const double *times, *values;
  bool held;
  const char *expression;
  const char *file;
} daedal_input;
typedef struct daedal_options {
  size_t size;
  const char *method;
  const char *solver;
  double start_time, stop_time, tolerance, output_interval, max_step, constraint_tolerance;
  uint32_t intervals;
  const daedal_override *overrides;
  uint32_t override_count;
  const char *start_values;
  const char *start_from;
  double start_from_time;
  const char *const *variables;
  double baumgarte_alpha, baumgarte_beta;
  bool keep_superfluous;
  const char *const *invariants;
  bool compile;
  bool (*on_step)(void *context, const daedal_progress *progress);
  void *context;
  bool no_event_rows;
  double rank_tolerance;
  const daedal_input *inputs;
  uint32_t input_count;
  size_t input_size;
  const char *const *plot_variables;
  bool open_inputs;
  const char *part_path;
  bool resumes;
  const double *output_times;
  uint32_t output_time_count;
  const char *const *sensitivity;
  const char *gradient;
  bool gradient_of_integral;
  const char *const *gradient_by;
  double gradient_memory;
  double part_interval;
  uint32_t segments;
  bool verify;
  bool propagation;
  bool leave_out_hidden;
  bool short_numbers;
  bool (*on_event)(void *context, const daedal_event *event);
  const daedal_value *absolute_tolerances;
  uint32_t absolute_tolerance_count;
} daedal_options;
static inline daedal_options daedal_default_options(void);
typedef struct daedal_result daedal_result;
daedal_result *daedal_simulate(daedal_model *model, const daedal_options *options);
daedal_result *daedal_initialize(daedal_model *model, const daedal_options *options);
typedef struct daedal_pivot {
  double time;
  const char *out, *in;
} daedal_pivot;
typedef struct daedal_statistics {
  const char *method, *solver, *solver_reason;
  uint32_t equations, states, rows;
  uint64_t steps, rejected, factorizations, events;
  double residual_evals, output_evals;
  double jacobian_evals;
  uint32_t pivots;
  double constraint_residual, constraint_time;
  const char *constraint_equation;
  double end_time;
  double seconds_parse, seconds_structure, seconds_code, seconds_init, seconds_integrate;
} daedal_statistics;
static inline daedal_statistics daedal_result_statistics(const daedal_result *result);
static inline daedal_pivot daedal_result_pivot(const daedal_result *result, uint32_t index);
static inline daedal_event daedal_result_event(const daedal_result *result, uint32_t index);
uint32_t daedal_result_signals(const daedal_result *result);
uint32_t daedal_result_rows(const daedal_result *result);
const char *daedal_result_name(const daedal_result *result, uint32_t signal);
const char *daedal_result_unit(const daedal_result *result, uint32_t signal);
double daedal_result_value(const daedal_result *result, uint32_t signal, uint32_t row);
uint32_t daedal_result_find(const daedal_result *result, const char *name);
uint32_t daedal_result_sensitivity(const daedal_result *result, const char *name, const char *target);
double daedal_result_functional(const daedal_result *result);
typedef struct daedal_derivative {
  const char *name;
  double value;
} daedal_derivative;
uint32_t daedal_result_derivatives(const daedal_result *result);
static inline daedal_derivative daedal_result_derivative(const daedal_result *result, uint32_t index);
const double *daedal_result_values(daedal_result *result, uint32_t signal);
uint32_t daedal_result_choose(daedal_result *result, const char *const *variables, uint32_t *signals, uint32_t most);
typedef struct daedal_residuals {
  uint32_t points, levels;
  const double *times;
  const double *values;
} daedal_residuals;
static inline daedal_residuals daedal_result_residuals(const daedal_result *result);
typedef struct daedal_plan daedal_plan;
daedal_plan *daedal_plan_make(daedal_model *model, const daedal_options *options);
bool daedal_plan_depends_on_values(const daedal_plan *plan);
const char *daedal_plan_value(const daedal_plan *plan, uint32_t index);
uint32_t daedal_plan_structures(const daedal_plan *plan);
const daedal_model *daedal_plan_model(const daedal_plan *plan);
typedef struct daedal_run daedal_run;
daedal_run *daedal_run_make(daedal_plan *plan);
daedal_status daedal_run_set(daedal_run *run, const char *name, double value);
daedal_status daedal_run_execute(daedal_run *run);
double daedal_run_get(const daedal_run *run, const char *name);
daedal_result *daedal_run_result(daedal_run *run);
daedal_result *daedal_run_take_result(daedal_run *run);
daedal_status daedal_run_start(daedal_run *run);
daedal_status daedal_run_advance(daedal_run *run, double time);
daedal_status daedal_run_step(daedal_run *run);
double daedal_run_time(const daedal_run *run);
bool daedal_run_ended(const daedal_run *run);
const double *daedal_run_values(daedal_run *run);
const double *daedal_run_derivatives(daedal_run *run);
daedal_status daedal_run_interpolate(daedal_run *run, double time, double *values);
daedal_status daedal_run_set_value(daedal_run *run, uint32_t variable, double value);
uint32_t daedal_run_state_count(const daedal_run *run);
daedal_status daedal_run_states(const daedal_run *run, double *states);
daedal_status daedal_run_rates(daedal_run *run, double time, const double *states, double *rates);
daedal_status daedal_run_jacobian(daedal_run *run, double time, const double *states, double *jacobian);
uint32_t daedal_run_indicator_count(const daedal_run *run);
daedal_status daedal_run_indicators(daedal_run *run, double time, const double *states, double *indicators);
typedef struct daedal_state daedal_state;
daedal_state *daedal_run_save(daedal_run *run);
daedal_status daedal_run_restore(daedal_run *run, const daedal_state *state);
void daedal_state_free(daedal_run *run, daedal_state *state);
daedal_run *daedal_run_clone(daedal_run *run);
typedef struct daedal_sweep daedal_sweep;
typedef struct daedal_sweep_progress {
  uint32_t points, finished, failed, resumed;
  double seconds;
} daedal_sweep_progress;
typedef struct daedal_axis {
  const char *name;
  const double *values;
  uint32_t count;
} daedal_axis;
typedef struct daedal_distribution {
  const char *name, *kind;
  double parameters[3];
} daedal_distribution;
typedef enum daedal_output_kind {
  DAEDAL_OUTPUT_FINAL,
  DAEDAL_OUTPUT_INITIAL,
  DAEDAL_OUTPUT_MAX,
  DAEDAL_OUTPUT_MIN,
  DAEDAL_OUTPUT_MEAN,
  DAEDAL_OUTPUT_RMS,
  DAEDAL_OUTPUT_AT,
  DAEDAL_OUTPUT_EVENT,
} daedal_output_kind;
typedef struct daedal_output {
  const char *name;
  daedal_output_kind kind;
  double time;
} daedal_output;
typedef struct daedal_sweep_options {
  size_t size;
  const daedal_axis *vary;
  uint32_t vary_count;
  const daedal_distribution *distributions;
  uint32_t distribution_count;
  uint32_t samples;
  const char *sampling;
  uint64_t seed;
  const daedal_output *outputs;
  uint32_t output_count;
  uint32_t threads;
  const char *trajectories;
  const char *journal;
  bool resume;
  bool keep_courses;
  uint32_t process, processes;
  bool (*on_progress)(void *context, const daedal_sweep_progress *progress);
  void *context;
} daedal_sweep_options;
daedal_sweep *daedal_sweep_make(daedal_model *model, const daedal_options *options,
                                const daedal_sweep_options *sweep_options);
daedal_status daedal_sweep_execute(daedal_sweep *sweep);
static inline daedal_sweep_progress daedal_sweep_progress_get(const daedal_sweep *sweep);
uint32_t daedal_sweep_points(const daedal_sweep *sweep);
uint32_t daedal_sweep_columns(const daedal_sweep *sweep);
uint32_t daedal_sweep_varied(const daedal_sweep *sweep);
const char *daedal_sweep_column_name(const daedal_sweep *sweep, uint32_t column);
double daedal_sweep_value(const daedal_sweep *sweep, uint32_t point, uint32_t column);
daedal_status daedal_sweep_point_status(const daedal_sweep *sweep, uint32_t point);
const char *daedal_sweep_point_cause(const daedal_sweep *sweep, uint32_t point);
bool daedal_sweep_point_finished(const daedal_sweep *sweep, uint32_t point);
uint32_t daedal_sweep_finished(const daedal_sweep *sweep, uint32_t k);
uint32_t daedal_sweep_row_length(const daedal_sweep *sweep);
const double *daedal_sweep_row(const daedal_sweep *sweep, uint32_t point);
daedal_status daedal_sweep_put(daedal_sweep *sweep, uint32_t point, daedal_status status, const char *cause,
                               const double *values);
typedef struct daedal_estimate daedal_estimate;
typedef struct daedal_guess {
  const char *name;
  double value;
  double low, high;
} daedal_guess;
typedef struct daedal_fit_options {
  size_t size;
  const char *data;
  const char *data_text;
  const daedal_guess *parameters;
  uint32_t parameter_count;
  const daedal_value *weights;
  uint32_t weight_count;
  const daedal_value *deviations;
  uint32_t deviation_count;
  double level;
  uint32_t iterations;
} daedal_fit_options;
daedal_estimate *daedal_fit(daedal_model *model, const daedal_options *options, const daedal_fit_options *fit_options);
typedef struct daedal_parameter {
  const char *name;
  double value, error, low, high, start;
  bool at_bound;
} daedal_parameter;
uint32_t daedal_estimate_parameters(const daedal_estimate *estimate);
static inline daedal_parameter daedal_estimate_parameter(const daedal_estimate *estimate, uint32_t index);
double daedal_estimate_covariance(const daedal_estimate *estimate, uint32_t first, uint32_t second);
double daedal_estimate_deviation(const daedal_estimate *estimate);
typedef struct daedal_comparison daedal_comparison;
daedal_comparison *daedal_compare(daedal_model *model, const daedal_options *options, const char *const *methods,
                                  const char *const *solvers);
typedef struct daedal_linearization daedal_linearization;
typedef struct daedal_linear {
  double time;
  uint32_t states, inputs, outputs;
  const char *const *state_names, *const *input_names, *const *output_names;
  const double *point;
  const double *a, *b, *c, *d;
  const double *eigenvalues_real, *eigenvalues_imaginary;
} daedal_linear;
daedal_linearization *daedal_linearize(daedal_model *model, const daedal_options *options, const char *const *inputs,
                                       const char *const *outputs);
static inline daedal_linear daedal_linear_get(const void *handle);
daedal_result *daedal_steady(daedal_model *model, const daedal_options *options, const char *way);
typedef struct daedal_files daedal_files;
daedal_files *daedal_files_read(const char *const *paths, uint32_t count, const daedal_allocator *allocator);
typedef struct daedal_difference_options {
  size_t size;
  const char *const *variables;
  double tolerance, absolute;
} daedal_difference_options;
daedal_status daedal_files_compare(daedal_files *files, const daedal_difference_options *options);
uint32_t daedal_files_different(const daedal_files *files);
typedef struct daedal_difference {
  const char *name;
  double largest, relative;
  double time;
  double first, second;
} daedal_difference;
static inline daedal_difference daedal_files_difference(const daedal_files *files, uint32_t index);
daedal_result *daedal_export_c(daedal_model *model, const char *directory, const daedal_options *options);
daedal_result *daedal_export_solver(daedal_model *model, const char *directory, const daedal_options *options);
daedal_result *daedal_export_fmu(daedal_model *model, const char *path, int version, const char *kind,
                                 const daedal_options *options);
const char *daedal_dump(daedal_model *model, const char *pass);
const char *const *daedal_method_names(void);
const char *const *daedal_solver_names(void);
const char *const *daedal_pass_names(void);
const char *daedal_nearest_name(const char *word, const char *const *names);
void daedal_diagnostic_get_(const void *handle, uint32_t index, daedal_diagnostic *out, size_t size);
void daedal_code_get_(uint32_t index, daedal_code *out, size_t size);
void daedal_variable_get_(const daedal_model *model, uint32_t index, daedal_variable *out, size_t size);
void daedal_model_counts_(const daedal_model *model, daedal_counts *out, size_t size);
void daedal_analyze_(daedal_model *model, daedal_analysis *out, size_t size);
void daedal_result_statistics_(const daedal_result *result, daedal_statistics *out, size_t size);
void daedal_result_pivot_(const daedal_result *result, uint32_t index, daedal_pivot *out, size_t size);
void daedal_result_event_(const daedal_result *result, uint32_t index, daedal_event *out, size_t size);
void daedal_result_derivative_(const daedal_result *result, uint32_t index, daedal_derivative *out, size_t size);
void daedal_result_residuals_(const daedal_result *result, daedal_residuals *out, size_t size);
void daedal_sweep_progress_get_(const daedal_sweep *sweep, daedal_sweep_progress *out, size_t size);
void daedal_estimate_parameter_(const daedal_estimate *estimate, uint32_t index, daedal_parameter *out, size_t size);
void daedal_linear_get_(const void *handle, daedal_linear *out, size_t size);
void daedal_files_difference_(const daedal_files *files, uint32_t index, daedal_difference *out, size_t size);
static inline daedal_diagnostic daedal_diagnostic_get(const void *handle, uint32_t index) {
  daedal_diagnostic out;
  daedal_diagnostic_get_(handle, index, &out, sizeof out);
  return out;
}
static inline daedal_code daedal_code_get(uint32_t index) {
  daedal_code out;
  daedal_code_get_(index, &out, sizeof out);
  return out;
}
static inline daedal_variable daedal_variable_get(const daedal_model *model, uint32_t index) {
  daedal_variable out;
  daedal_variable_get_(model, index, &out, sizeof out);
  return out;
}
static inline daedal_counts daedal_model_counts(const daedal_model *model) {
  daedal_counts out;
  daedal_model_counts_(model, &out, sizeof out);
  return out;
}
static inline daedal_analysis daedal_analyze(daedal_model *model) {
  daedal_analysis out;
  daedal_analyze_(model, &out, sizeof out);
  return out;
}
static inline daedal_statistics daedal_result_statistics(const daedal_result *result) {
  daedal_statistics out;
  daedal_result_statistics_(result, &out, sizeof out);
  return out;
}
static inline daedal_pivot daedal_result_pivot(const daedal_result *result, uint32_t index) {
  daedal_pivot out;
  daedal_result_pivot_(result, index, &out, sizeof out);
  return out;
}
static inline daedal_event daedal_result_event(const daedal_result *result, uint32_t index) {
  daedal_event out;
  daedal_result_event_(result, index, &out, sizeof out);
  return out;
}
static inline daedal_derivative daedal_result_derivative(const daedal_result *result, uint32_t index) {
  daedal_derivative out;
  daedal_result_derivative_(result, index, &out, sizeof out);
  return out;
}
static inline daedal_residuals daedal_result_residuals(const daedal_result *result) {
  daedal_residuals out;
  daedal_result_residuals_(result, &out, sizeof out);
  return out;
}
static inline daedal_sweep_progress daedal_sweep_progress_get(const daedal_sweep *sweep) {
  daedal_sweep_progress out;
  daedal_sweep_progress_get_(sweep, &out, sizeof out);
  return out;
}
static inline daedal_parameter daedal_estimate_parameter(const daedal_estimate *estimate, uint32_t index) {
  daedal_parameter out;
  daedal_estimate_parameter_(estimate, index, &out, sizeof out);
  return out;
}
static inline daedal_linear daedal_linear_get(const void *handle) {
  daedal_linear out;
  daedal_linear_get_(handle, &out, sizeof out);
  return out;
}
static inline daedal_difference daedal_files_difference(const daedal_files *files, uint32_t index) {
  daedal_difference out;
  daedal_files_difference_(files, index, &out, sizeof out);
  return out;
}
static inline daedal_options daedal_default_options(void) {
  daedal_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.input_size = sizeof(daedal_input);
  options.method = "dummy";
  options.solver = "auto";
  options.start_time = options.stop_time = options.tolerance = options.output_interval = NAN;
  options.max_step = options.constraint_tolerance = options.rank_tolerance = NAN;
  options.baumgarte_alpha = options.baumgarte_beta = options.start_from_time = NAN;
  options.gradient_memory = options.part_interval = NAN;
  return options;
}
#ifdef __cplusplus
}
#endif
#endif
