/* linearize: see linearize.h. */
#include "vary/linearize.h"

#include "base/blas.h"
#include "integrate/variation.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The source of an output: a column of the array with a sign, an input, or an expression over parameters. */
typedef struct LinearOutput {
  uint32_t column; /* MAP_NONE: no column */
  double sign;
  uint32_t input; /* MAP_NONE: no input */
  Expr constant;  /* EXPR_NONE: none */
} LinearOutput;

typedef struct Linearization {
  View *view;
  const Recorder *recorder;
  const LinearRequest *request;
  Arena *arena;
  Diags *diags;
  LinearForm *form;
  LinearOutput *output;
  double *change; /* all columns */
} Linearization;

/* ---- outputs ---- */

/* An unknown that is an expression over parameters, including inputs; EXPR_NONE if the name is not one. */
static Expr constant_of(const Linearization *work, const char *name) {
  const Model *model = work->view->evaluator->model;
  const Aliases *aliases = &work->view->evaluator->array->problem->aliases;
  uint32_t position = model_find(model, name);
  if (position == MAP_NONE || model->variables.data[position].role != ROLE_UNKNOWN || !aliases->removed)
    return EXPR_NONE;
  uint32_t unknown = model->variables.data[position].index;
  return aliases->root[unknown] == UINT32_MAX ? aliases->constant[unknown] : EXPR_NONE;
}

static bool find_output(const Linearization *work, const char *name, LinearOutput *output) {
  const Recorder *recorder = work->recorder;
  uint32_t columns = work->view->evaluator->array->columns;
  *output = (LinearOutput){.column = MAP_NONE, .sign = 1, .input = MAP_NONE, .constant = EXPR_NONE};
  for (uint32_t k = 0; k < work->request->inputs; k++)
    if (strcmp(work->request->input[k], name) == 0) output->input = k;
  if (output->input != MAP_NONE) return true;
  uint32_t found = signals_find(recorder->signals, name);
  if (found == MAP_NONE) found = signals_find_variable(recorder->signals, name);
  if (found == MAP_NONE) {
    Diag *diag = diag_error(work->diags, DIAG_USAGE, (Span){0}, "there is no signal '%s' for an output", name);
    signals_suggest(recorder->signals, work->diags, diag, name);
    return false;
  }
  const Signal *signal = &recorder->signals->list.data[found];
  output->sign = signal->negated ? -1 : 1;
  if (signal->column == SIGNAL_CONSTANT) output->constant = constant_of(work, name);
  else if (recorder->source[signal->column] < columns) output->column = recorder->source[signal->column];
  return true;
}

static bool find_outputs(Linearization *work) {
  const LinearRequest *request = work->request;
  work->output = arena_array(work->arena, request->outputs, sizeof *work->output);
  for (uint32_t k = 0; k < request->outputs; k++)
    if (!find_output(work, request->output[k], &work->output[k])) return false;
  return true;
}

/* Its derivative with respect to an input that it depends on directly. */
static double direct_slope(const Linearization *work, const LinearOutput *output, uint32_t input) {
  Evaluator *evaluator = work->view->evaluator;
  Dag *dag = evaluator_model(evaluator)->dag;
  double slope = 0;
  if (output->input != MAP_NONE) return output->input == input;
  if (output->constant == EXPR_NONE) return 0;
  Expr leaf = dag_parameter(dag, work->request->leaf[input]);
  model_evaluate(evaluator->own, &evaluator->scratch, dag_partial(dag, output->constant, leaf), evaluator->parameters,
                 &slope);
  return slope;
}

/* ---- matrices ---- */

/* The columns of [A; C] or [B; D] that follow from the change of all columns. */
static void take_change(Linearization *work, double *rates, double *outputs) {
  const System *system = &work->view->system;
  for (int32_t i = 0; i < system->links; i++) rates[i] = work->change[system->link_to[i]];
  for (uint32_t k = 0; k < work->request->outputs; k++) {
    const LinearOutput *output = &work->output[k];
    outputs[k] = output->column == MAP_NONE ? 0 : output->sign * work->change[output->column];
  }
}

static void fill_states(Linearization *work, Variation *variation) {
  const System *system = &work->view->system;
  LinearForm *form = work->form;
  for (int32_t k = 0; k < system->links; k++) {
    for (int32_t i = 0; i < system->links; i++) work->change[system->link_from[i]] = i == k;
    variation_solve(variation, NULL, work->change);
    take_change(work, form->a + (size_t)k * form->states, form->c + (size_t)k * form->outputs);
  }
}

static EvalStatus fill_inputs(Linearization *work, Variation *variation, double t, const double *y) {
  const System *system = &work->view->system;
  const LeafJacobian *varied = work->request->varied;
  LinearForm *form = work->form;
  Heap *heap = work->arena->heap;
  double *g = arena_array(work->arena, (size_t)system->rows, sizeof *g);
  double *values = arena_array(work->arena, varied ? varied->entries : 0, sizeof *values);
  Point point = evaluator_point(work->view->evaluator, t, y);
  if (varied && varied->program && workspace_run(workspace_new(heap, varied->program), &point, values) != EVAL_OK)
    return EVAL_DOMAIN;
  for (uint32_t k = 0; k < form->inputs; k++) {
    double *d = form->d + (size_t)k * form->outputs;
    memset(g, 0, (size_t)system->rows * sizeof *g);
    leaf_jacobian_add(varied, k, values, 1, g);
    for (int32_t i = 0; i < system->links; i++) work->change[system->link_from[i]] = 0;
    variation_solve(variation, g, work->change);
    take_change(work, form->b + (size_t)k * form->states, d);
    for (uint32_t i = 0; i < form->outputs; i++) d[i] += direct_slope(work, &work->output[i], k);
  }
  return EVAL_OK;
}

static void make_form(Linearization *work, double t, const double *y) {
  const System *system = &work->view->system;
  const LinearRequest *request = work->request;
  Arena *arena = work->arena;
  size_t states = (size_t)system->links;
  *work->form = (LinearForm){.time = t,
                             .states = (uint32_t)states,
                             .inputs = request->inputs,
                             .outputs = request->outputs,
                             .state = arena_array(arena, states, sizeof(char *)),
                             .input = request->input,
                             .output = request->output,
                             .value = arena_array(arena, states, sizeof(double)),
                             .a = arena_array(arena, states * states, sizeof(double)),
                             .b = arena_array(arena, states * request->inputs, sizeof(double)),
                             .c = arena_array(arena, states * request->outputs, sizeof(double)),
                             .d = arena_array(arena, (size_t)request->inputs * request->outputs, sizeof(double))};
  for (size_t k = 0; k < states; k++) {
    work->form->state[k] = array_column_name(work->view->evaluator->array, (uint32_t)system->link_from[k], arena);
    work->form->value[k] = y[system->link_from[k]];
  }
}

/* ---- modes ---- */

typedef struct Eigenvalue {
  double real, imaginary;
  uint32_t place; /* of its vector */
} Eigenvalue;

/* By size, then stable before unstable, then in LAPACK's order; pairs stay together. */
static int compare_eigenvalues(const void *one, const void *other) {
  const Eigenvalue *a = one, *b = other;
  double size_a = hypot(a->real, a->imaginary), size_b = hypot(b->real, b->imaginary);
  if (size_a != size_b) return size_a < size_b ? -1 : 1;
  if (a->real != b->real) return a->real < b->real ? -1 : 1;
  return a->place < b->place ? -1 : 1;
}

static bool find_modes(Linearization *work) {
  LinearForm *form = work->form;
  Arena *arena = work->arena;
  lapack_int n = (lapack_int)form->states, length = 8 * n + 1, one = 1, info = 0;
  size_t size = form->states;
  double *copy = arena_array(arena, size * size, sizeof *copy),
         *vectors = arena_array(arena, size * size, sizeof *copy);
  double *real = arena_array(arena, size, sizeof *real), *imaginary = arena_array(arena, size, sizeof *imaginary);
  double *scratch = arena_array(arena, (size_t)length, sizeof *scratch), none;
  Eigenvalue *list = arena_array(arena, size, sizeof *list);
  blas_expect_room(arena->heap);
  char left = 'N', right = 'V';
  memcpy(copy, form->a, size * size * sizeof *copy);
  if (n) LAPACK_dgeev(&left, &right, &n, copy, &n, real, imaginary, &none, &one, vectors, &n, scratch, &length, &info);
  for (uint32_t k = 0; k < form->states; k++) list[k] = (Eigenvalue){real[k], imaginary[k], k};
  qsort(list, size, sizeof *list, compare_eigenvalues);
  form->real = arena_array(arena, size, sizeof(double));
  form->imaginary = arena_array(arena, size, sizeof(double));
  form->vector = arena_array(arena, size * size, sizeof(double));
  for (uint32_t k = 0; k < form->states; k++) {
    form->real[k] = list[k].real;
    form->imaginary[k] = list[k].imaginary;
    memcpy(form->vector + k * size, vectors + list[k].place * size, size * sizeof(double));
  }
  if (info) diag_error(work->diags, DIAG_INTERNAL, (Span){0}, "the eigenvalues do not converge");
  return info == 0;
}

bool linear_form(View *view, const Recorder *recorder, double t, const double *y, const LinearRequest *request,
                 Arena *arena, Diags *diags, LinearForm *form) {
  Linearization work = {view, recorder, request, arena, diags, form, NULL, NULL};
  work.change = arena_array(arena, (size_t)view->system.columns, sizeof *work.change);
  if (!find_outputs(&work)) return false;
  make_form(&work, t, y);
  Variation *variation = variation_new(arena->heap, &view->system);
  if (variation_factor(variation, t, y) != EVAL_OK || fill_inputs(&work, variation, t, y) != EVAL_OK) {
    diag_error(diags, DIAG_STRUCTURE, (Span){0},
               "the equations cannot be linearized at time %.10g: their Jacobian is %s", t,
               "singular or not defined there");
    return false;
  }
  fill_states(&work, variation);
  return find_modes(&work);
}

/* ---- figures ---- */

double linear_frequency(const LinearForm *form, uint32_t k) { return hypot(form->real[k], form->imaginary[k]); }

double linear_damping(const LinearForm *form, uint32_t k) {
  double frequency = linear_frequency(form, k);
  return frequency > 0 ? -form->real[k] / frequency : NAN;
}

uint32_t linear_leader(const LinearForm *form, uint32_t k) {
  uint32_t leader = MAP_NONE;
  double largest = 0;
  uint32_t first = form->imaginary[k] < 0 && k ? k - 1 : k;
  for (uint32_t i = 0; i < form->states; i++) {
    const double *part = form->vector + (size_t)first * form->states + i;
    double size = form->imaginary[k] == 0 ? fabs(part[0]) : hypot(part[0], part[form->states]);
    if (size > largest) largest = size, leader = i;
  }
  return leader;
}

double linear_growth(const LinearForm *form) {
  double growth = -INFINITY;
  for (uint32_t k = 0; k < form->states; k++) growth = fmax(growth, form->real[k]);
  return growth;
}
