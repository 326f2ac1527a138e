/* prover: see prover.h. */
#include "watch/prover.h"

#include "code/interval_tape.h"
#include "code/krawczyk.h"
#include "core/constants.h"
#include "core/corrector.h"
#include "reduce/state_plan.h"

#include <string.h>

/* An entry of a block's matrix. */
typedef struct Entry {
  uint32_t place;
  int32_t row, column;
} Entry;

/* Encloses a column of a block at a time: the solution is in `image`, and no other one is in `box`. */
typedef struct EnclosedColumn {
  Interval box, image;
} EnclosedColumn;

typedef struct ProverUnit {
  int32_t count;      /* number of columns, or of rows */
  uint32_t section;   /* section of the values, or of the residuals */
  uint32_t *output;   /* per value or residual: its place */
  uint32_t *column;   /* per column: its place; for explicit units MAP_NONE if it is not needed */
  uint32_t *position; /* positions among the columns of the prover; for blocks */
  double *nominal;    /* per column */
  /* for blocks */
  bool is_block;
  IndexVec entry_sections;
  VEC(Entry) entries;
  Krawczyk *krawczyk;
  /* per column: the distance of the solution from the polynomials, over an interval of half the length `span`; 0: unknown */
  double *reach;
  double span;
  EnclosedColumn *here, *next; /* at the time reached, and at the end of the interval evaluated last */
} ProverUnit;

struct Prover {
  Heap *outer;
  Evaluator *evaluator;
  Switches *switches;
  const StatePlan *plan;
  bool has_conditions;
  /* analysis for the current states, with its own heap */
  Heap *heap;
  void *ticket;
  int32_t *states, links;
  IntervalTape *tape;
  bool is_possible; /* every column that is needed is given by a unit */
  bool is_bounded;  /* the differences have bounds at a point, with the present discrete values */
  bool is_judged;   /* is_bounded is known */
  IndexVec columns;
  uint32_t *place; /* place of each column */
  VEC(ProverUnit) units;
  uint32_t conditions;                       /* section of the conditions */
  uint32_t *difference;                      /* per mode: place of its difference */
  Interval *matrix, *box, *image, *g, *rate; /* workspace for one block */
  double *z, *slope;
  double *guess; /* guess for a block: the polynomials at the middle */
  double *polynomial,
      *way;          /* per column of the prover: its polynomial in the middle of the interval, and how far it moves */
  Interval *region;  /* per column of the prover; see prover_region */
  double region_end; /* end of its validity in time; NAN: there is none */
  /* during a proof */
  uint64_t evaluations, cost;
  uint64_t last_cost; /* cost of the last evaluation */
  uint64_t debt;      /* see prover_take_debt */
  double reached;     /* the time of `here` in blocks; NAN: unknown */
  bool is_start;      /* the interval is at the start of a step, where the columns equal its polynomials */
};

static bool is_searched(const Modes *modes, uint32_t m) { return !modes->timed[m] && !modes->meets[m]; }

Prover *prover_new(Heap *heap, Evaluator *evaluator, Switches *switches, const StatePlan *states) {
  Prover *prover = heap_alloc(heap, sizeof *prover);
  *prover = (Prover){.outer = heap, .evaluator = evaluator, .switches = switches, .plan = states, .links = -1};
  prover->region_end = NAN;
  for (uint32_t m = 0; switches && m < switches->modes->count; m++)
    prover->has_conditions = prover->has_conditions || is_searched(switches->modes, m);
  return prover;
}

/* ---- dependencies of conditions ---- */

/* The state of the columns while the units are listed. */
typedef struct Cone {
  Prover *prover;
  bool *is_state, *needed; /* per column */
  VEC(ProverUnit) units;   /* units, the last one first */
  uint64_t lines;          /* lines of the programs so far */
} Cone;

/* May another program be added? */
static bool has_room(Cone *cone, const Program *program) {
  cone->lines += program_size(program).lines;
  if (cone->lines > SMALL_WORK) cone->prover->is_possible = false;
  return cone->prover->is_possible;
}

static void need_reads(Cone *cone, uint32_t section) {
  IndexVec reads = {0};
  interval_tape_reads(cone->prover->tape, section, cone->prover->heap, &reads);
  for (uint32_t k = 0; k < reads.count; k++) cone->needed[reads.data[k]] = true;
}

static uint32_t position_of(Prover *prover, uint32_t column) {
  for (uint32_t k = 0; k < prover->columns.count; k++)
    if (prover->columns.data[k] == column) return k;
  vec_push(prover->heap, &prover->columns, column);
  return prover->columns.count - 1;
}

/* Lists the columns of a unit that are not current states. */
static int32_t list_solved(const Cone *cone, const UnitPlan *plan, uint32_t *columns, int32_t *local) {
  const Array *array = cone->prover->evaluator->array;
  const BlockShape *shape = plan->shape;
  int32_t n = 0;
  for (int32_t q = 0; q < shape->size; q++) {
    int32_t j = shape->unknown[q], d = cone->prover->plan->structure->d[j];
    uint32_t column = d >= plan->stage ? array->column_start[j] + (uint32_t)(d - plan->stage) : MAP_NONE;
    bool is_solved = column != MAP_NONE && !cone->is_state[column];
    local[q] = is_solved ? n : -1;
    if (is_solved) columns[n++] = column;
  }
  return n;
}

static bool any_needed(const Cone *cone, const uint32_t *columns, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (cone->needed[columns[k]]) return true;
  return false;
}

/* Marks that a unit gives the column, so that earlier units need not give it. */
static void give(Cone *cone, uint32_t column) {
  if (!cone->is_state[column]) cone->needed[column] = false;
}

static void add_explicit(Cone *cone, const UnitPlan *plan) {
  Prover *prover = cone->prover;
  size_t n = (size_t)plan->count;
  if (!any_needed(cone, plan->columns, plan->count) || !has_room(cone, plan->program)) return;
  bool *wanted = heap_array(prover->heap, n, sizeof *wanted);
  ProverUnit unit = {.count = plan->count, .column = heap_array(prover->heap, n, sizeof(uint32_t))};
  unit.output = heap_array(prover->heap, n, sizeof(uint32_t));
  for (size_t k = 0; k < n; k++) {
    wanted[k] = cone->needed[plan->columns[k]] && !cone->is_state[plan->columns[k]];
    unit.column[k] = wanted[k] ? interval_tape_column(prover->tape, plan->columns[k]) : MAP_NONE;
  }
  unit.section = interval_tape_add(prover->tape, plan->program, wanted, unit.output);
  need_reads(cone, unit.section);
  vec_push(prover->heap, &cone->units, unit);
}

/* Adds the entries of the unit's matrix: the entries in the rows of each group of its stage and above. */
static void add_entries(Cone *cone, const UnitPlan *plan, const int32_t *local, ProverUnit *unit) {
  Prover *prover = cone->prover;
  const BlockShape *shape = plan->shape;
  uint32_t *place = heap_array(prover->heap, (size_t)plan->nonzeros + 1, sizeof *place);
  for (int32_t c = shape->stages; c >= plan->stage; c--) {
    const BlockGroup *group = &shape->group[c];
    if (!group->program || !has_room(cone, group->program)) continue;
    uint32_t section = interval_tape_add(prover->tape, group->program, NULL, place + group->first_entry);
    need_reads(cone, section);
    vec_push(prover->heap, &unit->entry_sections, section);
  }
  for (int32_t p = 0; p < plan->count; p++)
    for (int32_t e = shape->row_start[p]; e < shape->row_start[p + 1]; e++)
      if (local[shape->column[e]] >= 0)
        vec_push(prover->heap, &unit->entries, (Entry){place[e], p, local[shape->column[e]]});
}

static void add_block(Cone *cone, const UnitPlan *plan) {
  Prover *prover = cone->prover;
  Heap *heap = prover->heap;
  size_t n = (size_t)plan->count, size = (size_t)plan->shape->size;
  uint32_t *columns = heap_array(heap, size, sizeof *columns);
  int32_t *local = heap_array(heap, size, sizeof *local);
  int32_t solved = list_solved(cone, plan, columns, local);
  if (!any_needed(cone, columns, solved)) return;
  if (solved != plan->count || plan->count > PROVEN_BLOCK) prover->is_possible = false;
  if (!prover->is_possible || !has_room(cone, plan->program)) return;
  ProverUnit unit = {.is_block = true, .count = plan->count, .output = heap_array(heap, n, sizeof(uint32_t))};
  unit.column = heap_array(heap, n, sizeof(uint32_t));
  unit.position = heap_array(heap, n, sizeof(uint32_t));
  unit.nominal = heap_array(heap, n, sizeof(double));
  for (size_t k = 0; k < n; k++) {
    unit.column[k] = interval_tape_column(prover->tape, columns[k]);
    unit.position[k] = position_of(prover, columns[k]);
    unit.nominal[k] = prover->evaluator->nominal[columns[k]];
  }
  unit.section = interval_tape_add(prover->tape, plan->program, NULL, unit.output);
  need_reads(cone, unit.section);
  add_entries(cone, plan, local, &unit);
  for (size_t k = 0; k < n; k++) give(cone, columns[k]);
  unit.krawczyk = krawczyk_new(heap, plan->count);
  unit.reach = heap_array(heap, n, sizeof *unit.reach);
  unit.here = heap_array(heap, n, sizeof *unit.here);
  unit.next = heap_array(heap, n, sizeof *unit.next);
  vec_push(heap, &cone->units, unit);
}

static void add_conditions(Cone *cone) {
  Prover *prover = cone->prover;
  const Modes *modes = prover->switches->modes;
  uint32_t outputs = program_outputs(prover->evaluator->code->conditions);
  if (!has_room(cone, prover->evaluator->code->conditions)) return;
  bool *wanted = heap_array(prover->heap, outputs, sizeof *wanted);
  for (uint32_t m = 0; m < modes->count; m++) wanted[m] = is_searched(modes, m);
  prover->difference = heap_array(prover->heap, outputs, sizeof(uint32_t));
  prover->conditions = interval_tape_add(prover->tape, prover->evaluator->code->conditions, wanted, prover->difference);
  need_reads(cone, prover->conditions);
}

/* Lists units from the last to the first, so that the needs of each are known before the units before it are considered. */
static void list_units(Cone *cone) {
  Prover *prover = cone->prover;
  uint32_t count = prover->plan ? prover->plan->units.count : 0;
  for (uint32_t u = count; u-- > 0 && prover->is_possible;) {
    const UnitPlan *plan = &prover->plan->units.data[u];
    if (plan->kind == UNIT_EXPLICIT) {
      add_explicit(cone, plan);
      for (int32_t k = 0; k < plan->count; k++) give(cone, plan->columns[k]);
    } else add_block(cone, plan);
  }
  for (uint32_t k = cone->units.count; k-- > 0;) vec_push(prover->heap, &prover->units, cone->units.data[k]);
}

static void make_room(Prover *prover) {
  size_t most = 0;
  for (uint32_t u = 0; u < prover->units.count; u++)
    if (prover->units.data[u].is_block && (size_t)prover->units.data[u].count > most)
      most = (size_t)prover->units.data[u].count;
  prover->matrix = heap_array(prover->heap, most * most, sizeof(Interval));
  prover->box = heap_array(prover->heap, most, sizeof(Interval));
  prover->image = heap_array(prover->heap, most, sizeof(Interval));
  prover->g = heap_array(prover->heap, most, sizeof(Interval));
  prover->rate = heap_array(prover->heap, most, sizeof(Interval));
  heap_numbers(prover->heap, most, &prover->z, &prover->slope, &prover->guess);
  heap_numbers(prover->heap, prover->columns.count, &prover->polynomial, &prover->way);
  prover->region = heap_array(prover->heap, prover->columns.count, sizeof(Interval));
}

static void build(Prover *prover, const int32_t *states, int32_t links) {
  if (prover->ticket) heap_release(prover->outer, prover->ticket);
  prover->heap = heap_within(prover->outer, &prover->ticket);
  prover->states = heap_copy(prover->heap, states, (size_t)links, sizeof *states);
  prover->links = links;
  prover->tape = interval_tape_new(prover->heap, prover->evaluator);
  prover->columns = (IndexVec){0};
  prover->units.data = NULL;
  prover->units.count = prover->units.capacity = 0;
  prover->is_possible = !prover->evaluator->past;
  prover->is_judged = false;
  prover->reached = prover->region_end = NAN;
  size_t columns = prover->evaluator->array->columns;
  Cone cone = {.prover = prover};
  cone.is_state = heap_array(prover->heap, columns, sizeof(bool));
  cone.needed = heap_array(prover->heap, columns, sizeof(bool));
  for (int32_t k = 0; k < links; k++) cone.is_state[states[k]] = true;
  add_conditions(&cone);
  list_units(&cone);
  for (uint32_t q = 0; q < columns; q++) {
    if (!cone.needed[q]) continue;
    if (cone.is_state[q]) position_of(prover, q);
    else prover->is_possible = false;
  }
  prover->place = heap_array(prover->heap, prover->columns.count, sizeof(uint32_t));
  for (uint32_t k = 0; k < prover->columns.count; k++)
    prover->place[k] = interval_tape_column(prover->tape, prover->columns.data[k]);
  make_room(prover);
  prover->debt += 2 * BOUNDS_COST * cone.lines;
}

uint64_t prover_take_debt(Prover *prover) {
  uint64_t debt = prover->debt;
  prover->debt = 0;
  return debt;
}

const IndexVec *prover_columns(Prover *prover, const int32_t *states, int32_t links) {
  bool is_same = links == prover->links && !memcmp(states, prover->states, (size_t)links * sizeof *states);
  if (!is_same && prover->has_conditions) build(prover, states, links);
  return &prover->columns;
}

/* ---- polynomials ---- */

/* A part of a step. */
typedef struct StepPart {
  double low, high;
} StepPart;

/* A column over an interval; *way: how far it moves. */
static Motion follow_column(const ProverStep *step, uint32_t column, StepPart stretch, double *way) {
  double value[BERNSTEIN_MOST], largest = 0;
  int count = step->segment->count;
  memcpy(value, segment_column(step->segment, column), (size_t)count * sizeof *value);
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(value[i]));
  if (stretch.high < 1) bernstein_keep_before(count, value, stretch.high);
  if (stretch.low > 0) bernstein_keep_behind(count, value, stretch.low / stretch.high);
  double time = (stretch.high - stretch.low) * (step->segment->t1 - step->segment->t0),
         middle = bernstein_value(count, value, 0.5);
  double slack = (step->slack + 4 * count * DBL_EPSILON) * largest;
  Interval all = {value[0], value[0]}, rise = {INFINITY, -INFINITY};
  for (int i = 1; i < count; i++) {
    all = interval_hull(all, (Interval){value[i], value[i]});
    rise = interval_hull(rise, (Interval){value[i] - value[i - 1], value[i] - value[i - 1]});
  }
  *way = value[count - 1] - value[0];
  Interval off = {-slack, slack};
  if (!(time > 0)) return (Motion){interval_add((Interval){middle, middle}, off), {0, 0}, interval_add(all, off)};
  Interval rate = interval_scale((count - 1) / time, interval_add(rise, interval_scale(2, off)));
  return (Motion){interval_add((Interval){middle, middle}, off), rate, interval_add(all, off)};
}

/* All values of a column over the step. */
static Interval bounds_of_column(const ProverStep *step, uint32_t column) {
  const double *value = segment_column(step->segment, column);
  Interval all = {value[0], value[0]};
  for (int i = 1; i < step->segment->count; i++) all = interval_hull(all, (Interval){value[i], value[i]});
  double slack = (step->slack + 4 * step->segment->count * DBL_EPSILON) * interval_size(all);
  return interval_add(all, (Interval){-slack, slack});
}

/* ---- blocks ---- */

static Interval along(Interval middle, Interval rate, double radius) {
  return interval_add(middle, interval_multiply(rate, (Interval){-radius, radius}));
}

/* Sets the motion to the path z0 + z1 (t - middle), with bounds widened by a box. */
static void set_path(Prover *prover, const ProverUnit *unit, const Interval *box) {
  double radius = interval_tape_radius(prover->tape);
  for (int32_t k = 0; k < unit->count; k++) {
    Interval middle = interval_point(prover->z[k]), slope = interval_point(prover->slope[k]);
    Interval path = along(middle, slope, radius);
    *interval_tape_at(prover->tape, unit->column[k]) = (Motion){middle, slope, box ? interval_add(path, box[k]) : path};
  }
}

static bool set_jacobian(Prover *prover, const ProverUnit *unit, bool inverts) {
  int32_t n = unit->count;
  for (uint32_t s = 0; s < unit->entry_sections.count; s++)
    prover->cost += BOUNDS_COST * (uint64_t)interval_tape_run(prover->tape, unit->entry_sections.data[s], false);
  uint64_t size = (uint64_t)n, products = size * (unit->entries.count + 4 * size) + (inverts ? size * size * size : 0);
  prover->cost += PRODUCT_COST * products;
  for (int32_t e = 0; e < n * n; e++) prover->matrix[e] = (Interval){0, 0};
  for (uint32_t e = 0; e < unit->entries.count; e++) {
    const Entry *entry = &unit->entries.data[e];
    Interval *to = &prover->matrix[entry->row * n + entry->column];
    *to = interval_add(*to, interval_tape_at(prover->tape, entry->place)->all);
  }
  return krawczyk_set_jacobian(unit->krawczyk, prover->matrix, inverts);
}

/* Evaluates the residual along the path, and its rate for all possible values of the columns. */
static void run_residual(Prover *prover, const ProverUnit *unit) {
  double radius = interval_tape_radius(prover->tape);
  prover->cost += 3 * BOUNDS_COST * (uint64_t)interval_tape_run(prover->tape, unit->section, true);
  for (int32_t k = 0; k < unit->count; k++) {
    const Motion *g = interval_tape_at(prover->tape, unit->output[k]);
    prover->rate[k] = g->rate;
    prover->g[k] = along(g->middle, g->rate, radius);
  }
}

/* Moves the path by the middle of the Newton correction, computed from the residual in the middle of the interval and from its
 * rate. The box contains the remaining error. At the start of a step the path stays, and the box includes the Newton correction.
 * Returns the distance of the path from the solution, relative to the size of the columns. */
static double correct_path(Prover *prover, const ProverUnit *unit) {
  int32_t n = unit->count;
  double radius = interval_tape_radius(prover->tape), farthest = 0;
  for (int32_t k = 0; k < n; k++) prover->g[k] = interval_tape_at(prover->tape, unit->output[k])->middle;
  krawczyk_step(unit->krawczyk, prover->g, prover->image);
  krawczyk_step(unit->krawczyk, prover->rate, prover->box);
  for (int32_t k = 0; k < n; k++) {
    double shift = interval_middle(prover->image[k]), turn = radius > 0 ? interval_middle(prover->box[k]) : 0;
    double off = fabs(shift) + radius * fabs(turn), rest = 0.5 * (prover->image[k].high - prover->image[k].low);
    if (radius > 0) rest += radius * 0.5 * (prover->box[k].high - prover->box[k].low);
    if (!isfinite(off + rest)) return INFINITY;
    if (!prover->is_start) {
      prover->z[k] += shift;
      prover->slope[k] += turn;
    }
    double size = fabs(prover->z[k]) + unit->nominal[k];
    rest += (prover->is_start ? 1 : GOOD_PART) * off + DIFFERENCE_ROUND_OFF * size;
    farthest = fmax(farthest, off / size);
    prover->box[k] = (Interval){-INFLATION * rest, INFLATION * rest};
  }
  return farthest;
}

/* Is this the continuation of the solution in the previous interval? It is if one of the two images is inside the box of the
 * other. */
static bool is_followed(const Prover *prover, const ProverUnit *unit, bool from_next) {
  double radius = interval_tape_radius(prover->tape);
  const EnclosedColumn *before = from_next ? unit->next : unit->here;
  bool is_within = true, holds = true;
  for (int32_t k = 0; k < unit->count; k++) {
    Interval begin =
        interval_subtract(interval_point(prover->z[k]), interval_scale(prover->slope[k], interval_point(radius)));
    Interval box = interval_add(begin, prover->box[k]), image = interval_add(begin, prover->image[k]);
    is_within = is_within && before[k].box.low <= image.low && image.high <= before[k].box.high;
    holds = holds && box.low <= before[k].image.low && before[k].image.high <= box.high;
  }
  return is_within || holds;
}

/* Keeps the enclosure at the end of the interval. */
static void keep_end(const Prover *prover, const ProverUnit *unit) {
  double radius = interval_tape_radius(prover->tape);
  for (int32_t k = 0; k < unit->count; k++) {
    Interval end = interval_add(interval_point(prover->z[k]), interval_scale(prover->slope[k], interval_point(radius)));
    unit->next[k] = (EnclosedColumn){interval_add(end, prover->box[k]), interval_add(end, prover->image[k])};
  }
}

/* Copies the columns after a proof. */
static bool take_solution(Prover *prover, const ProverUnit *unit) {
  int32_t n = unit->count;
  if (!krawczyk_solve(unit->krawczyk, prover->box, prover->rate, prover->g)) return false;
  for (int32_t k = 0; k < n; k++) {
    Motion *column = interval_tape_at(prover->tape, unit->column[k]);
    column->all =
        interval_meet(column->all, interval_add(along(interval_point(prover->z[k]), interval_point(prover->slope[k]),
                                                      interval_tape_radius(prover->tape)),
                                                prover->image[k]));
    column->middle = interval_add(interval_point(prover->z[k]), prover->image[k]);
    column->rate = interval_add(interval_point(prover->slope[k]), prover->g[k]);
  }
  return true;
}

/* Starts with the path of the polynomials. */
static void begin_path(Prover *prover, const ProverUnit *unit) {
  double radius = interval_tape_radius(prover->tape);
  for (int32_t k = 0; k < unit->count; k++) {
    prover->z[k] = prover->guess[k] = prover->polynomial[unit->position[k]];
    prover->slope[k] = radius > 0 ? prover->way[unit->position[k]] / (2 * radius) : 0;
  }
}

/* A block whose path is being corrected. */
typedef struct PathCorrection {
  Prover *prover;
  const ProverUnit *unit;
} PathCorrection;

/* A CorrectorStep. */
static double correct_path_once(void *context, bool *renew) {
  const PathCorrection *correction = context;
  *renew = true;
  set_path(correction->prover, correction->unit, NULL);
  run_residual(correction->prover, correction->unit);
  return set_jacobian(correction->prover, correction->unit, true) ? correct_path(correction->prover, correction->unit)
                                                                  : INFINITY;
}

/* Finds the path by Newton's method, starting from the polynomials. The polynomials may miss a pulse. At the start of a step
 * only one correction is made.
 * false: it does not converge. */
static bool find_path(Prover *prover, const ProverUnit *unit) {
  PathCorrection correction = {prover, unit};
  bool renew = true;
  begin_path(prover, unit);
  if (prover->is_start) return isfinite(correct_path_once(&correction, &renew));
  return corrector_run(correct_path_once, &correction, REACH_ANY, false, NEGLIGIBLE) == CORRECTOR_CONVERGED;
}

static void widen_box(Prover *prover, const ProverUnit *unit) {
  for (int32_t k = 0; k < unit->count; k++) {
    Interval image = prover->image[k];
    double middle = interval_middle(image), size = fabs(prover->z[k]) + unit->nominal[k];
    double radius = INFLATION * 0.5 * (image.high - image.low) + DIFFERENCE_ROUND_OFF * size;
    prover->box[k] = interval_hull(prover->box[k], (Interval){middle - radius, middle + radius});
  }
}

/* Tries the box. from_next: the interval begins where the last one ended, not at the time reached. */
static bool try_box(Prover *prover, const ProverUnit *unit, bool from_next) {
  set_path(prover, unit, prover->box);
  run_residual(prover, unit);
  if (!set_jacobian(prover, unit, false)) return false;
  krawczyk_image(unit->krawczyk, prover->g, prover->box, prover->image);
  if (!krawczyk_proves(unit->krawczyk, prover->box, prover->image)) return false;
  if (!prover->is_start && !is_followed(prover, unit, from_next)) return false;
  keep_end(prover, unit);
  return take_solution(prover, unit);
}

/* Tries the inverse of the interval before, around the polynomials, with a box of the size needed there. If that succeeds, it costs
 * half the work. The error of the polynomials grows with the square of the length of an interval. */
static bool try_box_of_before(Prover *prover, const ProverUnit *unit, bool from_next) {
  double radius = interval_tape_radius(prover->tape), grown = radius / unit->span;
  if (!(unit->span > 0) || !(radius > 0) || prover->is_start) return false;
  double factor = INFLATION * fmax(1, grown * grown);
  begin_path(prover, unit);
  for (int32_t k = 0; k < unit->count; k++)
    prover->box[k] = (Interval){-factor * unit->reach[k], factor * unit->reach[k]};
  return try_box(prover, unit, from_next);
}

/* Keeps how far the solution is from the polynomials. */
static void keep_reach(const Prover *prover, ProverUnit *unit, bool is_enclosed) {
  unit->span = is_enclosed ? interval_tape_radius(prover->tape) : 0;
  for (int32_t k = 0; k < unit->count && is_enclosed; k++) {
    double size = fabs(prover->z[k]) + unit->nominal[k], off = fabs(prover->z[k] - prover->guess[k]);
    unit->reach[k] = interval_size(prover->image[k]) + off + DIFFERENCE_ROUND_OFF * size;
  }
}

static bool enclose_block(Prover *prover, ProverUnit *unit, bool from_next) {
  bool is_enclosed = try_box_of_before(prover, unit, from_next);
  if (!is_enclosed && find_path(prover, unit)) {
    for (int k = 0; k < ATTEMPTS && !is_enclosed; k++) {
      is_enclosed = try_box(prover, unit, from_next);
      if (!is_enclosed) widen_box(prover, unit);
    }
  }
  keep_reach(prover, unit, is_enclosed);
  return is_enclosed;
}

/* ---- intervals ---- */

/* Returns the number of lines evaluated. */
static uint32_t run_explicit(Prover *prover, const ProverUnit *unit, bool with_rates) {
  uint32_t lines = interval_tape_run(prover->tape, unit->section, with_rates);
  for (int32_t k = 0; k < unit->count; k++)
    if (unit->column[k] != MAP_NONE)
      *interval_tape_at(prover->tape, unit->column[k]) = *interval_tape_at(prover->tape, unit->output[k]);
  return lines;
}

static void run_stretch(Prover *prover, const ProverStep *step, StepPart stretch, bool from_next) {
  double time = step->segment->t1 - step->segment->t0;
  interval_tape_set_stretch(prover->tape, step->segment->t0 + stretch.low * time,
                            step->segment->t0 + stretch.high * time);
  for (uint32_t k = 0; k < prover->columns.count; k++) {
    Motion column = follow_column(step, prover->columns.data[k], stretch, &prover->way[k]);
    prover->polynomial[k] = interval_middle(column.middle);
    *interval_tape_at(prover->tape, prover->place[k]) = column;
  }
  for (uint32_t u = 0; u < prover->units.count; u++) {
    ProverUnit *unit = &prover->units.data[u];
    if (!unit->is_block) prover->cost += 3 * BOUNDS_COST * (uint64_t)run_explicit(prover, unit, true);
    else if (!enclose_block(prover, unit, from_next))
      for (int32_t k = 0; k < unit->count; k++) *interval_tape_at(prover->tape, unit->column[k]) = MOTION_UNKNOWN;
  }
  prover->cost += 3 * BOUNDS_COST * (uint64_t)interval_tape_run(prover->tape, prover->conditions, true);
  prover->cost += 9 * BOUNDS_COST * (1 + (uint64_t)prover->columns.count);
  prover->evaluations++;
}

/* The conclusions about the modes from the interval evaluated last. */
typedef struct ModeConclusions {
  bool is_open;     /* a mode may change and change back */
  bool is_monotone; /* some modes may change, each at most once */
  bool has_changed; /* a mode contradicts its relation in the middle */
} ModeConclusions;

/* A mode does not change if its difference stays in its range. It changes at most once if the difference is monotone. */
static void judge_mode(const Prover *prover, uint32_t m, ModeConclusions *verdict) {
  const Motion *difference = interval_tape_at(prover->tape, prover->difference[m]);
  const Switches *switches = prover->switches;
  if (edges_least_margin(&switches->edges, (int)m, difference->all.low, difference->all.high) >= 0) return;
  Interval middle = difference->middle;
  if (interval_is_bounded(middle) && edges_margin(&switches->edges, (int)m, middle.low) < 0 &&
      edges_margin(&switches->edges, (int)m, middle.high) < 0 &&
      edges_margin(&switches->edges, (int)m, interval_middle(middle)) < 0)
    verdict->has_changed = true;
  *(interval_holds(difference->rate, 0) ? &verdict->is_open : &verdict->is_monotone) = true;
}

static ModeConclusions judge(const Prover *prover) {
  const Modes *modes = prover->switches->modes;
  ModeConclusions verdict = {0};
  for (uint32_t m = 0; m < modes->count; m++)
    if (is_searched(modes, m)) judge_mode(prover, m, &verdict);
  return verdict;
}

static bool is_clear(ModeConclusions verdict) { return !verdict.is_open && !verdict.is_monotone; }

/* Examines a time of the step, where the interval evaluated last ends. */
static ModeConclusions judge_end(Prover *prover, const ProverStep *step, double part) {
  run_stretch(prover, step, (StepPart){part, part}, true);
  return judge(prover);
}

/* Is it certain that no mode changes while the columns are in the region and the time is in [from, until]? Works without rates: a
 * third of the
 * work. */
static bool is_region_clear(Prover *prover, double from, double until) {
  uint64_t lines = 0;
  interval_tape_set_stretch(prover->tape, from, until);
  for (uint32_t k = 0; k < prover->columns.count; k++)
    interval_tape_at(prover->tape, prover->place[k])->all = prover->region[k];
  for (uint32_t u = 0; u < prover->units.count; u++) lines += run_explicit(prover, &prover->units.data[u], false);
  lines += interval_tape_run(prover->tape, prover->conditions, false);
  prover->cost += BOUNDS_COST * (lines + prover->columns.count);
  prover->evaluations++;
  const Modes *modes = prover->switches->modes;
  for (uint32_t m = 0; m < modes->count; m++) {
    if (!is_searched(modes, m)) continue;
    Interval all = interval_tape_at(prover->tape, prover->difference[m])->all;
    if (!edges_are_off(&prover->switches->edges, (int)m, all.low, all.high)) return false;
  }
  return true;
}

/* Is the whole step far from all edges? Then the next steps are probably far from them, too. So a region around it is tried
 * first: steps inside the region need no further proof. */
static bool is_far_from_edges(Prover *prover, const ProverStep *step) {
  const Segment *segment = step->segment;
  for (uint32_t k = 0; k < prover->columns.count; k++) {
    Interval bounds = bounds_of_column(step, prover->columns.data[k]);
    double more = SEVERAL * (bounds.high - bounds.low);
    prover->region[k] = (Interval){bounds.low - more, bounds.high + more};
  }
  prover->region_end = segment->t1 + NEXT_STEPS * (segment->t1 - segment->t0);
  if (is_region_clear(prover, segment->t0, prover->region_end)) return true;
  prover->region_end = NAN;
  for (uint32_t k = 0; k < prover->columns.count; k++)
    prover->region[k] = bounds_of_column(step, prover->columns.data[k]);
  return is_region_clear(prover, segment->t0, segment->t1);
}

const Interval *prover_region(const Prover *prover, const int32_t *states, int32_t links, double until) {
  bool is_same = until <= prover->region_end && links == prover->links;
  return is_same && !memcmp(states, prover->states, (size_t)links * sizeof *states) ? prover->region : NULL;
}

void prover_restart(Prover *prover) {
  prover->reached = prover->region_end = NAN;
  for (uint32_t u = 0; prover->tape && u < prover->units.count; u++) prover->units.data[u].span = 0;
}

void prover_forget(Prover *prover) {
  prover->links = -1;
  prover->last_cost = prover->debt = 0;
}

ProverScope prover_scope(Prover *prover) {
  if (!prover->has_conditions) return PROVER_NOTHING;
  if (!prover->tape || !prover->is_possible || prover->switches->edges.now->slides) return PROVER_UNABLE;
  if (interval_tape_hold(prover->tape)) prover->is_judged = false;
  return prover->is_judged && !prover->is_bounded ? PROVER_UNABLE : PROVER_ABLE;
}

/* The next interval begins with the result of the last one. */
static void move_on(Prover *prover, double t) {
  for (uint32_t u = 0; u < prover->units.count; u++) {
    ProverUnit *unit = &prover->units.data[u];
    EnclosedColumn *swap = unit->here;
    unit->here = unit->next;
    unit->next = swap;
  }
  prover->reached = t;
}

/* At the start of a step, blocks have the solution nearest to the polynomials there. */
static void begin_step(Prover *prover, const ProverStep *step) {
  prover->is_start = true;
  run_stretch(prover, step, (StepPart){0, 0}, false);
  prover->is_start = false;
  move_on(prover, step->segment->t0);
}

/* Do the differences have bounds at the start of the step? If not, they have none in any interval, however short. */
static bool has_bounds(Prover *prover, const ProverStep *step) {
  if (prover->is_judged) return prover->is_bounded;
  const Modes *modes = prover->switches->modes;
  begin_step(prover, step);
  prover->is_judged = prover->is_bounded = true;
  for (uint32_t m = 0; m < modes->count; m++)
    if (is_searched(modes, m) && !interval_is_bounded(interval_tape_at(prover->tape, prover->difference[m])->all))
      prover->is_bounded = false;
  return prover->is_bounded;
}

/* A proof in progress, from left to right, in parts of the step. */
typedef struct ProofWalk {
  double low, end, width;
  double skip;        /* how much the next unprovable interval skips; it doubles each time */
  bool left_agrees;   /* all modes agree at `low` */
  bool end_agrees;    /* all modes agree at `end`; if false, a mode contradicts its relation there */
  double proven;      /* time proven so far */
  double first, last; /* beginning and end of the unproven part; NAN: everything is proven */
  double high;        /* the first change is between `low` and this; NAN: not found */
} ProofWalk;

/* Records that the first change lies before t. */
static void end_at_change(ProofWalk *walk, double t) {
  walk->end = t;
  walk->end_agrees = false;
}

static void pass_stretch(Prover *prover, ProofWalk *walk, double high) {
  move_on(prover, NAN);
  walk->proven += high - walk->low;
  walk->low = high;
  walk->width *= 2;
  walk->skip = LOCATED;
  walk->left_agrees = true;
}

/* Halves the interval, or skips it if it is too narrow. */
static void leave_open(ProofWalk *walk, double high) {
  if (high - walk->low > walk->skip) {
    walk->width = (fmin(high, walk->end) - walk->low) / 2;
    return;
  }
  if (isnan(walk->first)) walk->first = walk->low;
  walk->last = walk->low = high;
  walk->width = walk->skip *= 2;
  walk->left_agrees = false;
}

/* Examines the next interval. false: the first change was found. */
static bool walk_on(Prover *prover, const ProverStep *step, ProofWalk *walk) {
  double high = walk->low + walk->width < walk->end ? walk->low + walk->width : walk->end;
  run_stretch(prover, step, (StepPart){walk->low, high}, false);
  ModeConclusions verdict = judge(prover);
  bool is_once = !verdict.is_open && walk->left_agrees;
  double change = NAN;
  if (verdict.has_changed) change = walk->low + (high - walk->low) / 2;
  else if (is_once && !is_clear(verdict)) {
    bool is_end = high == walk->end;
    ModeConclusions at_end =
        is_end ? (ModeConclusions){.has_changed = !walk->end_agrees} : judge_end(prover, step, high);
    if (at_end.has_changed) change = high;
    else if (is_clear(at_end)) verdict = at_end;
  }
  if (!isnan(change) && is_once) {
    walk->high = change;
    return false;
  }
  if (!isnan(change)) end_at_change(walk, change);
  if (is_clear(verdict)) pass_stretch(prover, walk, high);
  else leave_open(walk, high);
  return true;
}

static bool has_blocks(const Prover *prover) {
  for (uint32_t u = 0; u < prover->units.count; u++)
    if (prover->units.data[u].is_block) return true;
  return false;
}

Proof prover_prove(Prover *prover, const ProverStep *step, bool agrees, bool is_far, uint64_t budget) {
  double start = step->segment->t0, time = step->segment->t1 - start;
  ProofWalk walk = {.end = 1, .width = 1, .skip = LOCATED, .left_agrees = true, .end_agrees = agrees};
  Proof none = {.first = start, .last = step->segment->t1, .low = NAN, .high = NAN};
  walk.first = walk.last = walk.high = NAN;
  prover->evaluations = prover->cost = 0;
  if (budget < ATTEMPTS * prover->last_cost) return none;
  bool is_bounded = has_bounds(prover, step), blocks = has_blocks(prover);
  if (is_bounded && is_far && agrees && !blocks && is_far_from_edges(prover, step)) walk.proven = walk.low = 1;
  if (is_bounded && blocks && prover->reached != start) begin_step(prover, step);
  while (is_bounded && walk.low < walk.end && prover->cost < budget && walk_on(prover, step, &walk))
    ;
  if (is_bounded && prover->evaluations) prover->last_cost = prover->cost / prover->evaluations;
  none.evaluations = prover->evaluations;
  none.cost = prover->cost;
  bool is_whole = walk.proven > 0 && !(walk.low < walk.end), has_found = !isnan(walk.high);
  prover->reached = is_whole && walk.left_agrees && agrees ? step->segment->t1 : NAN;
  if (!is_bounded || (is_whole && !walk.end_agrees && isnan(walk.first))) return none; /* the end contradicts a proof */
  if (!has_found && walk.low < walk.end && isnan(walk.first)) walk.first = walk.low;
  if (!has_found && walk.low < walk.end) walk.last = walk.end;
  return (Proof){.proven = walk.proven * time,
                 .first = start + walk.first * time,
                 .last = start + walk.last * time,
                 .low = has_found ? start + walk.low * time : NAN,
                 .high = start + walk.high * time,
                 .evaluations = prover->evaluations,
                 .cost = prover->cost};
}
