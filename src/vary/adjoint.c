/* adjoint: see adjoint.h. Invariant: notes are in the order of the run; each has the data for its transpose. */
#include "vary/adjoint.h"

#include "base/arena.h"
#include "core/constants.h"
#include "integrate/variation.h"
#include "vary/retake.h"
#include "vary/whole_stages.h"

#include <math.h>
#include <string.h>

/* The choice of states and the discrete values during a step. Steps with the same choice and the same values share a setting. */
typedef struct HeldSetting {
  int32_t links, *from, *to;
  double *discretes, *pre;
} HeldSetting;

typedef struct Roots {
  double *columns, *leaves;
} Roots;

typedef struct Rates {
  const HeldSetting *setting;
  double *entries, *rows, *rate;
} Rates;

typedef struct StoredStep {
  const HeldSetting *setting;
  TakenStep taken; /* values NULL: forgotten */
} StoredStep;

typedef enum NoteKind {
  NOTE_STEP,
  NOTE_TIME,
  NOTE_SHIFT,
  NOTE_LEFTS,
  NOTE_COMPLETE,
  NOTE_STEPS,
  NOTE_RESET,
  NOTE_INTEGRAND,
} NoteKind;

typedef struct Note {
  NoteKind kind;
  union {
    StoredStep step;
    struct {
      const Roots *roots;
      uint32_t mode;
      double rate;
    } time;
    struct {
      const Rates *rates;
      double sign;
    } shift;
    const Roots *roots; /* lefts, steps */
    const Rates *rates; /* complete */
    struct {
      uint32_t reset, column;
      double sign;
    } reset;
    double fall; /* integrand: before the event minus after it */
  } of;
} Note;

/* An entry of the variations at the start. */
typedef struct StartEntry {
  uint32_t place;
  double value;
} StartEntry;

/* Weights of everything that varies, one block of numbers. */
typedef struct Weights {
  double *column, *discrete, *pre, *parameter, *reset;
  double time;
} Weights;

struct Adjoint {
  Heap *heap;
  Arena arena;
  const SensitivityPlan *plan;
  View *view;
  Diags *diags;
  Functional functional;
  System system; /* the view's, with the links of a note */
  VEC(Note) notes;
  const HeldSetting *setting;
  const Roots *roots;
  const Rates *rates;
  VEC(StartEntry) start;
  IndexVec start_end; /* per target */
  double integral, before;
  size_t memory, used; /* bytes of the stages that are kept */
  uint32_t spacing;    /* spacing of the kept steps, between events and changes of states */
  Retake *retake;      /* NULL until it is needed */
  Weights weights;
  WholeStages *stages;
  Variation *variation;
  Workspace *rows; /* NULL: rows do not depend on parameters */
  double *entries[RADAU_STAGES_MAX], *owed[RADAU_STAGES_MAX], *multiplier[RADAU_STAGES_MAX];
  double *stage[RADAU_STAGES_MAX]; /* weights of columns there */
  double *root, *z;
};

static size_t count_leaves(const Adjoint *adjoint) { return modes_leaves(adjoint->plan->code->modes); }

Adjoint *adjoint_new(Heap *heap, const SensitivityPlan *plan, View *view, const Functional *functional, size_t memory,
                     Diags *diags) {
  Adjoint *adjoint = heap_alloc(heap, sizeof *adjoint);
  *adjoint = (Adjoint){.heap = heap, .arena = arena_make(heap), .plan = plan, .view = view, .diags = diags};
  const System *system = &view->system;
  size_t columns = (size_t)system->columns, leaves = count_leaves(adjoint), rows = (size_t)system->rows;
  size_t nonzeros = (size_t)system->column_start[system->columns];
  adjoint->functional = *functional;
  adjoint->memory = memory;
  adjoint->spacing = 1;
  adjoint->system = *system;
  adjoint->weights = (Weights){.column = heap_array(heap, columns, sizeof(double)),
                               .discrete = heap_array(heap, leaves, sizeof(double)),
                               .pre = heap_array(heap, leaves, sizeof(double)),
                               .parameter = heap_array(heap, plan->parameters.count, sizeof(double)),
                               .reset = heap_array(heap, plan->resets.count, sizeof(double))};
  adjoint->stages = whole_stages_new(heap, &adjoint->system, true);
  adjoint->variation = variation_new_transposed(heap, &adjoint->system);
  if (plan->rows->program) adjoint->rows = workspace_new(heap, plan->rows->program);
  for (int i = 0; i < RADAU_STAGES_MAX; i++) {
    adjoint->entries[i] = heap_array(heap, nonzeros, sizeof(double));
    adjoint->owed[i] = heap_array(heap, plan->rows->entries, sizeof(double));
    adjoint->multiplier[i] = heap_array(heap, rows, sizeof(double));
    adjoint->stage[i] = heap_array(heap, columns, sizeof(double));
  }
  adjoint->root = heap_array(heap, plan->roots, sizeof(double));
  adjoint->z = heap_array(heap, rows, sizeof(double));
  return adjoint;
}

/* ---- noting ---- */

static double *keep(Adjoint *adjoint, const double *numbers, size_t count) {
  double *copy = arena_array(&adjoint->arena, count, sizeof *copy);
  if (count) memcpy(copy, numbers, count * sizeof *copy);
  return copy;
}

static int32_t *keep_places(Adjoint *adjoint, const int32_t *places, int32_t count) {
  int32_t *copy = arena_array(&adjoint->arena, (size_t)count, sizeof *copy);
  if (count) memcpy(copy, places, (size_t)count * sizeof *copy);
  return copy;
}

static bool same_bytes(const void *a, const void *b, size_t size) { return size == 0 || memcmp(a, b, size) == 0; }

static const HeldSetting *present_setting(Adjoint *adjoint) {
  const System *system = &adjoint->view->system;
  const Evaluator *evaluator = adjoint->view->evaluator;
  const HeldSetting *last = adjoint->setting;
  size_t links = (size_t)system->links * sizeof(int32_t), leaves = count_leaves(adjoint),
         bytes = leaves * sizeof(double);
  if (last && last->links == system->links && same_bytes(last->from, system->link_from, links) &&
      same_bytes(last->to, system->link_to, links) && same_bytes(last->discretes, evaluator->discretes, bytes) &&
      same_bytes(last->pre, evaluator->pre, bytes))
    return last;
  HeldSetting *setting = arena_alloc(&adjoint->arena, sizeof *setting);
  *setting = (HeldSetting){.links = system->links,
                           .from = keep_places(adjoint, system->link_from, system->links),
                           .to = keep_places(adjoint, system->link_to, system->links),
                           .discretes = keep(adjoint, evaluator->discretes, leaves),
                           .pre = keep(adjoint, evaluator->pre, leaves)};
  return adjoint->setting = setting;
}

static void add_note(Adjoint *adjoint, Note note) { vec_push(adjoint->heap, &adjoint->notes, note); }

static void keep_varying(Adjoint *adjoint, size_t first, const double *numbers, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (numbers[k] != 0) vec_push(adjoint->heap, &adjoint->start, ((StartEntry){(uint32_t)(first + k), numbers[k]}));
}

void adjoint_note_start(Adjoint *adjoint, const double *values, const double *pre, const double *parameters) {
  size_t leaves = count_leaves(adjoint), both = (size_t)adjoint->system.columns + leaves;
  keep_varying(adjoint, 0, values, both);
  keep_varying(adjoint, both, pre, leaves);
  keep_varying(adjoint, both + leaves, parameters, adjoint->plan->parameters.count);
  vec_push(adjoint->heap, &adjoint->start_end, adjoint->start.count);
}

/* The integrand at the columns y. */
static double number_at(const Adjoint *adjoint, const double *y) {
  const Functional *functional = &adjoint->functional;
  double value =
      functional->column != MAP_NONE ? y[functional->column] : adjoint->view->evaluator->discretes[functional->leaf];
  return functional->sign * value;
}

static size_t bytes_of(const Adjoint *adjoint, const TakenStep *taken) {
  return (size_t)taken->method->stages * (size_t)adjoint->system.columns * sizeof(double);
}

/* Can the step of note k be recomputed from the step of the previous note? */
static bool continues(const Adjoint *adjoint, uint32_t k) {
  const Note *note = &adjoint->notes.data[k];
  if (k == 0 || note[-1].kind != NOTE_STEP) return false;
  return note[-1].of.step.setting == note->of.step.setting;
}

static void forget_values(Adjoint *adjoint, TakenStep *taken) {
  if (!taken->values) return;
  heap_free(adjoint->heap, taken->values);
  taken->values = NULL;
  adjoint->used -= bytes_of(adjoint, taken);
}

/* Keeps one of every `adjoint->spacing` steps. The first after an event stays: it cannot be recomputed from the one before. */
static void thin_steps(Adjoint *adjoint) {
  uint32_t since = 0;
  for (uint32_t k = 0; k < adjoint->notes.count; k++) {
    Note *note = &adjoint->notes.data[k];
    if (note->kind != NOTE_STEP) continue;
    since = continues(adjoint, k) ? since + 1 : 0;
    if (since % adjoint->spacing) forget_values(adjoint, &note->of.step.taken);
  }
}

/* Reduces the memory to a half, if enough steps can be recomputed; otherwise the limit is raised. */
static void forget_steps(Adjoint *adjoint) {
  while (adjoint->used > adjoint->memory / 2 && adjoint->spacing < adjoint->notes.count) {
    adjoint->spacing *= 2;
    thin_steps(adjoint);
  }
  if (adjoint->used > adjoint->memory / 2) adjoint->memory = 2 * adjoint->used;
}

static void note_taken(Adjoint *adjoint, TakenStep taken, double *const *values) {
  size_t columns = (size_t)adjoint->system.columns;
  taken.values = heap_alloc(adjoint->heap, bytes_of(adjoint, &taken));
  for (int i = 0; i < taken.method->stages; i++)
    memcpy(taken.values + (size_t)i * columns, values[i], columns * sizeof(double));
  add_note(adjoint, (Note){NOTE_STEP, .of.step = {present_setting(adjoint), taken}});
  adjoint->used += bytes_of(adjoint, &taken);
  if (adjoint->used > adjoint->memory) forget_steps(adjoint);
}

void adjoint_note_step(Adjoint *adjoint, const StepStages *step) {
  int s = step->method->stages;
  for (int i = 0; i < s && adjoint->functional.is_integral; i++)
    adjoint->integral += step->h * step->method->a[s - 1][i] * number_at(adjoint, step->values[i]);
  note_taken(adjoint, (TakenStep){.method = step->method, .t = step->t, .h = step->h}, step->values);
}

uint32_t adjoint_noted(const Adjoint *adjoint) { return adjoint->notes.count; }

void adjoint_forget(Adjoint *adjoint, uint32_t noted) { adjoint->notes.count = noted; }

void adjoint_note_begin(Adjoint *adjoint, const double *y) { adjoint->before = number_at(adjoint, y); }

void adjoint_note_end(Adjoint *adjoint, const double *y) {
  double fall = adjoint->before - number_at(adjoint, y);
  if (adjoint->functional.is_integral && fall != 0) add_note(adjoint, (Note){NOTE_INTEGRAND, .of.fall = fall});
}

void adjoint_keep_roots(Adjoint *adjoint, const double *columns, const double *leaves) {
  const SensitivityPlan *plan = adjoint->plan;
  Roots *roots = arena_alloc(&adjoint->arena, sizeof *roots);
  roots->columns = keep(adjoint, columns, plan->columns->nonzeros);
  roots->leaves = keep(adjoint, leaves, plan->leaves->entries);
  adjoint->roots = roots;
}

void adjoint_keep_rates(Adjoint *adjoint, const double *entries, const double *rows, const double *rate) {
  const System *system = &adjoint->view->system;
  Rates *rates = arena_alloc(&adjoint->arena, sizeof *rates);
  rates->setting = present_setting(adjoint);
  rates->entries = keep(adjoint, entries, (size_t)system->column_start[system->columns]);
  rates->rows = keep(adjoint, rows, adjoint->plan->rows->entries);
  rates->rate = keep(adjoint, rate, (size_t)system->columns);
  adjoint->rates = rates;
}

void adjoint_note_time(Adjoint *adjoint, uint32_t mode, double rate) {
  add_note(adjoint, (Note){NOTE_TIME, .of.time = {adjoint->roots, mode, rate}});
}

void adjoint_note_shift(Adjoint *adjoint, double sign) {
  add_note(adjoint, (Note){NOTE_SHIFT, .of.shift = {adjoint->rates, sign}});
}

void adjoint_note_lefts(Adjoint *adjoint) { add_note(adjoint, (Note){NOTE_LEFTS, .of.roots = adjoint->roots}); }

void adjoint_note_complete(Adjoint *adjoint) { add_note(adjoint, (Note){NOTE_COMPLETE, .of.rates = adjoint->rates}); }

void adjoint_note_steps(Adjoint *adjoint) { add_note(adjoint, (Note){NOTE_STEPS, .of.roots = adjoint->roots}); }

void adjoint_note_reset(Adjoint *adjoint, uint32_t reset, uint32_t column, double sign) {
  add_note(adjoint, (Note){NOTE_RESET, .of.reset = {reset, column, sign}});
}

/* ---- transposes ---- */

/* Computes the weights of parameters, discretes and pre() from the weights of the rows or roots that contain them. */
static void weigh_leaves(Adjoint *adjoint, const LeafJacobian *leaves, const double *values, double factor,
                         const double *vector) {
  const SensitivityPlan *plan = adjoint->plan;
  Weights *weights = &adjoint->weights;
  uint32_t leaf = 0;
  for (uint32_t p = 0; p < plan->parameters.count; p++, leaf++)
    weights->parameter[p] += factor * leaf_jacobian_dot(leaves, leaf, values, vector);
  for (uint32_t d = 0; d < plan->discretes.count; d++, leaf++)
    weights->discrete[plan->discretes.data[d]] += factor * leaf_jacobian_dot(leaves, leaf, values, vector);
  for (uint32_t d = 0; d < plan->discretes.count; d++, leaf++)
    weights->pre[plan->discretes.data[d]] += factor * leaf_jacobian_dot(leaves, leaf, values, vector);
}

/* Converts weights of the roots, in adjoint->root, to weights of everything that the roots depend on. */
static void weigh_roots(Adjoint *adjoint, const Roots *roots) {
  const SensitivityPlan *plan = adjoint->plan;
  if (!plan->roots) return;
  for (uint32_t q = 0; q < plan->columns->columns; q++)
    for (int32_t e = plan->columns->column_start[q]; e < plan->columns->column_start[q + 1]; e++)
      adjoint->weights.column[q] += roots->columns[e] * adjoint->root[plan->columns->row_index[e]];
  weigh_leaves(adjoint, plan->leaves, roots->leaves, 1, adjoint->root);
  adjoint->weights.time += leaf_jacobian_dot(plan->leaves, plan->leaves->leaves - 1, roots->leaves, adjoint->root);
}

static void clear_roots(Adjoint *adjoint) { memset(adjoint->root, 0, adjoint->plan->roots * sizeof *adjoint->root); }

static void transpose_time(Adjoint *adjoint, const Note *note) {
  Weights *weights = &adjoint->weights;
  if (note->of.time.mode != MAP_NONE && weights->time != 0) {
    clear_roots(adjoint);
    adjoint->root[note->of.time.mode] = -weights->time / note->of.time.rate;
    weigh_roots(adjoint, note->of.time.roots);
  }
  weights->time = 0;
}

static double dot_rate(const Adjoint *adjoint, const double *rate) {
  double sum = 0;
  for (int32_t q = 0; q < adjoint->system.columns; q++) sum += rate[q] * adjoint->weights.column[q];
  return sum;
}

static void transpose_lefts(Adjoint *adjoint, const Roots *roots) {
  const SensitivityPlan *plan = adjoint->plan;
  const Logic *logic = plan->code->modes->logic;
  Weights *weights = &adjoint->weights;
  for (size_t d = 0; d < count_leaves(adjoint); d++) {
    weights->discrete[d] += weights->pre[d];
    weights->pre[d] = 0;
  }
  clear_roots(adjoint);
  for (uint32_t k = 0; logic && k < logic->lefts.count; k++) {
    double *weight = &weights->discrete[logic->lefts.data[k].leaf];
    adjoint->root[plan->first_left + k] = *weight;
    *weight = 0;
  }
  weigh_roots(adjoint, roots);
}

static void transpose_steps(Adjoint *adjoint, const Roots *roots) {
  const SensitivityPlan *plan = adjoint->plan;
  clear_roots(adjoint);
  for (uint32_t r = 0; r < plan->resets.count; r++) {
    adjoint->root[plan->first_reset + r] = adjoint->weights.reset[r];
    adjoint->weights.reset[r] = 0;
  }
  for (uint32_t k = 0; k < plan->steps.count; k++) {
    double *weight = &adjoint->weights.discrete[plan->code->modes->logic->steps.data[plan->steps.data[k]].leaf];
    adjoint->root[plan->first_step + k] = *weight;
    *weight = 0;
  }
  weigh_roots(adjoint, roots);
}

static void take_links(Adjoint *adjoint, const HeldSetting *setting) {
  adjoint->system.links = setting->links;
  adjoint->system.link_from = setting->from;
  adjoint->system.link_to = setting->to;
}

static bool transpose_complete(Adjoint *adjoint, const Rates *rates) {
  const System *system = &adjoint->system;
  Weights *weights = &adjoint->weights;
  take_links(adjoint, rates->setting);
  weights->time += dot_rate(adjoint, rates->rate);
  if (variation_take(adjoint->variation, rates->entries) != EVAL_OK) return false;
  variation_solve_transposed(adjoint->variation, weights->column, adjoint->z);
  weigh_leaves(adjoint, adjoint->plan->rows, rates->rows, -1, adjoint->z);
  for (int32_t l = 0; l < system->links; l++)
    weights->time -= rates->rate[system->link_from[l]] * weights->column[system->link_from[l]];
  return true;
}

/* ---- steps ---- */

static void take_setting(Adjoint *adjoint, const HeldSetting *setting) {
  Evaluator *evaluator = adjoint->view->evaluator;
  size_t bytes = count_leaves(adjoint) * sizeof(double);
  if (bytes) memcpy(evaluator->discretes, setting->discretes, bytes);
  if (bytes) memcpy(evaluator->pre, setting->pre, bytes);
  take_links(adjoint, setting);
}

/* Recomputes the step of note k, and all between it and the last kept one before. */
static bool recall_step(Adjoint *adjoint, uint32_t k) {
  uint32_t first = k;
  while (!adjoint->notes.data[first].of.step.taken.values) first--;
  if (!adjoint->retake) adjoint->retake = retake_new(adjoint->heap, &adjoint->system);
  for (uint32_t next = first + 1; next <= k; next++) {
    TakenStep *taken = &adjoint->notes.data[next].of.step.taken;
    taken->values = heap_alloc(adjoint->heap, bytes_of(adjoint, taken));
    adjoint->used += bytes_of(adjoint, taken);
    if (!retake_step(adjoint->retake, &adjoint->notes.data[next - 1].of.step.taken, taken)) return false;
  }
  return true;
}

/* The direct dependence of rows on parameters at a point. */
static bool evaluate_rows(Adjoint *adjoint, double t, const double *y, double *owed) {
  Point point = evaluator_point(adjoint->view->evaluator, t, y);
  return !adjoint->rows || workspace_run(adjoint->rows, &point, owed) == EVAL_OK;
}

/* Jacobians at the stages, and the direct dependence of rows there. */
static bool evaluate_stages(Adjoint *adjoint, const TakenStep *step) {
  const System *system = &adjoint->system;
  for (int i = 0; i < step->method->stages; i++) {
    const double t = step->t + step->method->node[i] * step->h, *y = step->values + (size_t)i * (size_t)system->columns;
    if (system->jacobian(system->context, t, y, adjoint->entries[i]) != EVAL_OK ||
        !evaluate_rows(adjoint, t, y, adjoint->owed[i]))
      return false;
  }
  return true;
}

/* Computes the weights of the columns at the stages: from the weights at the end of the step, and from the integral. */
static void weigh_stages(Adjoint *adjoint, const TakenStep *step) {
  const Functional *functional = &adjoint->functional;
  size_t bytes = (size_t)adjoint->system.columns * sizeof(double);
  int s = step->method->stages;
  for (int i = 0; i < s - 1; i++) memset(adjoint->stage[i], 0, bytes);
  memcpy(adjoint->stage[s - 1], adjoint->weights.column, bytes);
  if (!functional->is_integral) return;
  if (functional->column == MAP_NONE) adjoint->weights.discrete[functional->leaf] += functional->sign * step->h;
  else
    for (int i = 0; i < s; i++)
      adjoint->stage[i][functional->column] += functional->sign * step->h * step->method->a[s - 1][i];
}

static bool transpose_stages(Adjoint *adjoint, const TakenStep *step) {
  if (!evaluate_stages(adjoint, step)) return false;
  weigh_stages(adjoint, step);
  WholeStep whole = {step->method, step->h, adjoint->entries};
  if (!whole_stages_transpose(adjoint->stages, &whole, adjoint->stage, adjoint->weights.column, adjoint->multiplier))
    return false;
  for (int i = 0; i < step->method->stages; i++)
    weigh_leaves(adjoint, adjoint->plan->rows, adjoint->owed[i], 1, adjoint->multiplier[i]);
  return true;
}

static bool transpose_step(Adjoint *adjoint, uint32_t k) {
  TakenStep *step = &adjoint->notes.data[k].of.step.taken;
  take_setting(adjoint, adjoint->notes.data[k].of.step.setting);
  if (!step->values && !recall_step(adjoint, k)) return false;
  bool ok = transpose_stages(adjoint, step);
  forget_values(adjoint, step);
  return ok;
}

/* ---- from the end to the start ---- */

static bool transpose_note(Adjoint *adjoint, uint32_t k) {
  const Note *note = &adjoint->notes.data[k];
  Weights *weights = &adjoint->weights;
  switch (note->kind) {
  case NOTE_STEP: return transpose_step(adjoint, k);
  case NOTE_TIME: transpose_time(adjoint, note); return true;
  case NOTE_SHIFT: weights->time += note->of.shift.sign * dot_rate(adjoint, note->of.shift.rates->rate); return true;
  case NOTE_LEFTS: transpose_lefts(adjoint, note->of.roots); return true;
  case NOTE_COMPLETE: return transpose_complete(adjoint, note->of.rates);
  case NOTE_STEPS: transpose_steps(adjoint, note->of.roots); return true;
  case NOTE_RESET:
    weights->reset[note->of.reset.reset] += note->of.reset.sign * weights->column[note->of.reset.column];
    weights->column[note->of.reset.column] = 0;
    return true;
  case NOTE_INTEGRAND: weights->time += note->of.fall; return true;
  }
  return false;
}

/* The weight of a value kept from the start. */
static double weight_at(const Adjoint *adjoint, size_t place) {
  size_t columns = (size_t)adjoint->system.columns, leaves = count_leaves(adjoint);
  if (place < columns) return adjoint->weights.column[place];
  if (place < columns + leaves) return adjoint->weights.discrete[place - columns];
  if (place < columns + 2 * leaves) return adjoint->weights.pre[place - columns - leaves];
  return adjoint->weights.parameter[place - columns - 2 * leaves];
}

static double *weigh_start(const Adjoint *adjoint) {
  double *gradient = heap_array(adjoint->heap, adjoint->plan->targets, sizeof *gradient);
  uint32_t next = 0;
  for (uint32_t k = 0; k < adjoint->plan->targets; k++) {
    for (; next < adjoint->start_end.data[k]; next++)
      gradient[k] += adjoint->start.data[next].value * weight_at(adjoint, adjoint->start.data[next].place);
  }
  return gradient;
}

static bool transpose_all(Adjoint *adjoint, AdjointStop *stop, void *context) {
  for (uint32_t k = adjoint->notes.count; k-- > 0;) {
    if (adjoint->notes.data[k].kind == NOTE_STEP && stop(context)) return false;
    if (transpose_note(adjoint, k)) continue;
    diag_error(adjoint->diags, DIAG_INTEGRATION, (Span){0},
               "the equations have no derivatives, or a singular Jacobian, within the run: no gradient");
    return false;
  }
  return true;
}

bool adjoint_finish(Adjoint *adjoint, const double *y, AdjointStop *stop, void *context, Gradient *gradient) {
  const Functional *functional = &adjoint->functional;
  Evaluator *evaluator = adjoint->view->evaluator;
  size_t leaves = count_leaves(adjoint);
  gradient->plan = adjoint->plan;
  gradient->value = functional->is_integral ? adjoint->integral : number_at(adjoint, y);
  if (!functional->is_integral && functional->column != MAP_NONE)
    adjoint->weights.column[functional->column] = functional->sign;
  if (!functional->is_integral && functional->column == MAP_NONE)
    adjoint->weights.discrete[functional->leaf] = functional->sign;
  double *discretes = keep(adjoint, evaluator->discretes, leaves), *pre = keep(adjoint, evaluator->pre, leaves);
  bool ok = transpose_all(adjoint, stop, context);
  if (leaves) memcpy(evaluator->discretes, discretes, leaves * sizeof *discretes);
  if (leaves) memcpy(evaluator->pre, pre, leaves * sizeof *pre);
  if (ok) gradient->by = weigh_start(adjoint);
  return ok;
}
