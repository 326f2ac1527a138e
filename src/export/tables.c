/* tables: see tables.h. Programs are collected first, with names; the tables after them refer to these names. */
#include "export/tables.h"

#include "array/meeting.h"
#include "code/cdata.h"
#include "code/past.h"
#include "code/switches.h"
#include "code/watched.h"
#include "export/lookups.h"
#include "export/messages.h"
#include "reduce/preference.h"
#include "reduce/state_plan.h"

#include <math.h>

/* The text being written. */
typedef struct Writer {
  Heap *heap;
  Arena *arena;
  const ExportSource *source;
  const ExportVariables *variables;
  Model *own; /* the run's layer over the model */
  VEC(ProgramText) programs;
  TextVec *out;
} Writer;

#define PUT(writer, ...) text_printf((writer)->heap, (writer)->out, __VA_ARGS__)

/* ---- programs ---- */

/* Adds a program under a name; returns the name of its function, or 0 if there is none. */
static const char *add_program(Writer *writer, const Program *program, const char *name) {
  if (!program) return "0";
  vec_push(writer->heap, &writer->programs, program_text(writer->heap, program, name));
  return arena_printf(writer->arena, "model_%s", name);
}

static const char *add_roots(Writer *writer, const Expr *roots, uint32_t count, const char *name) {
  if (!count) return "0";
  const Layout *layout = &writer->source->evaluator->code->layout;
  return add_program(writer, program_new(writer->heap, writer->own, layout, roots, count), name);
}

/* ---- blocks and units ---- */

typedef VEC(const char *) NameVec;

/* Names of functions, made before the tables. */
typedef struct ProgramNames {
  NameVec units, joints, groups, levels, dependents;
  const char *initial_residual, *initial_jacobian, *point_residual, *point_jacobian, *point_starts, *point_conditions;
  Messages messages;
  const char *message_values;
  const char *residual, *jacobian, *kinks, *kink_sizes, *conditions, *written, *rates, *initial_steps, *lefts, *actions,
      *samples, *constants, *starts, *delayed, *delay_times, *pipe_points, *branches;
} ProgramNames;

static void name_units(Writer *writer, ProgramNames *names) {
  const StatePlan *plan = writer->source->plan;
  for (uint32_t u = 0; u < plan->units.count; u++) {
    const UnitPlan *unit = &plan->units.data[u];
    vec_push(writer->heap, &names->units, add_program(writer, unit->program, arena_printf(writer->arena, "unit%u", u)));
    vec_push(writer->heap, &names->joints, add_program(writer, unit->joint, arena_printf(writer->arena, "joint%u", u)));
  }
}

static void name_groups(Writer *writer, ProgramNames *names) {
  BlockShape *const *shapes = writer->source->evaluator->code->shapes;
  for (int32_t b = 0; shapes && b < writer->source->structure->blocks.n_blocks; b++)
    for (int32_t c = 0; shapes[b] && c <= shapes[b]->stages; c++)
      vec_push(writer->heap, &names->groups,
               add_program(writer, shapes[b]->group[c].program, arena_printf(writer->arena, "group%d_%d", b, c)));
}

static const char *name_samples(Writer *writer) {
  const Logic *logic = writer->source->evaluator->code->modes->logic;
  ExprVec roots = {0};
  for (uint32_t k = 0; k < logic->samples.count; k++) {
    vec_push(writer->heap, &roots, logic->samples.data[k].start);
    vec_push(writer->heap, &roots, logic->samples.data[k].interval);
  }
  return add_roots(writer, roots.data, roots.count, "samples");
}

/* Places and values of the contents of pipes at the start. */
static const char *name_pipe_points(Writer *writer) {
  const Logic *logic = writer->source->evaluator->code->modes->logic;
  ExprVec roots = {0};
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    const LogicPipe *pipe = logic->delays.data[k].pipe;
    for (uint32_t i = 0; pipe && i < 2 * pipe->count; i++) vec_push(writer->heap, &roots, pipe->points[i]);
  }
  return add_roots(writer, roots.data, roots.count, "pipe_points");
}

static void name_dependents(Writer *writer, ProgramNames *names) {
  const Model *model = writer->source->evaluator->model;
  const IndexVec *dependents = &writer->variables->dependents;
  for (uint32_t k = 0; k < dependents->count; k++) {
    const Variable *variable = &model->variables.data[model->parameters.data[dependents->data[k]]];
    const char *name = arena_printf(writer->arena, "dependent%u", k);
    vec_push(writer->heap, &names->dependents, add_roots(writer, &variable->binding, 1, name));
  }
}

/* The rows of the initial system and the columns that they determine, stage after stage. Last come the rows that follow from
 * others and are only checked. */
typedef struct InitialPart {
  uint32_t rows, columns, checks;
  Expr *row;        /* rows + checks */
  uint32_t *column; /* of the system */
  double *weight;   /* per column */
  bool *moves;      /* per column of the system: in a stage with more columns than rows */
  VEC(StepsUnit) stages;
  Jacobian *jacobian;
} InitialPart;

static void part_add(InitialPart *part, const InitialSystem *system, uint32_t row, uint32_t column) {
  part->row[part->rows++] = system->row[row];
  part->weight[part->columns] = 1;
  part->column[part->columns++] = column;
}

/* Adds one unit after another, as they were solved. Consecutive units with as many columns as rows form one stage. */
static void part_add_units(Heap *heap, InitialPart *part, const InitialSystem *system, const StepsTrace *trace) {
  const uint32_t *rows = trace->rows.data, *columns = trace->columns.data;
  const double *weights = trace->weights.data;
  bool was_square = false;
  for (uint32_t u = 0; u < trace->units.count; u++) {
    const StepsUnit *unit = &trace->units.data[u];
    bool is_square = unit->columns == unit->rows;
    if (is_square && was_square) {
      vec_last(&part->stages).rows += unit->rows;
      vec_last(&part->stages).columns += unit->columns;
    } else vec_push(heap, &part->stages, *unit);
    was_square = is_square;
    for (uint32_t k = 0; k < unit->rows; k++) part->row[part->rows++] = system->row[rows[k]];
    for (uint32_t k = 0; k < unit->columns; k++) {
      part->weight[part->columns] = weights[k];
      part->moves[columns[k]] = unit->columns > unit->rows;
      part->column[part->columns++] = columns[k];
    }
    rows += unit->rows;
    columns += unit->columns;
    weights += unit->columns;
  }
}

static InitialPart initial_part(Writer *writer) {
  const Initial *initial = writer->source->initial;
  const InitialSystem *system = initial->system;
  InitialPart part = {0};
  if (!system || !export_restarts(writer->source)) return part;
  Arena *arena = writer->arena;
  part.row = arena_array(arena, system->rows, sizeof *part.row);
  part.column = arena_array(arena, system->columns, sizeof *part.column);
  part.weight = arena_array(arena, system->columns, sizeof *part.weight);
  part.moves = arena_array(arena, system->columns, sizeof *part.moves);
  if (writer->source->trace) part_add_units(writer->heap, &part, system, writer->source->trace);
  else {
    for (uint32_t q = 0; q < system->columns; q++)
      if (initial->column[q].row != MAP_NONE) part_add(&part, system, initial->column[q].row, q);
    vec_push(writer->heap, &part.stages, (StepsUnit){.rows = part.rows, .columns = part.columns});
  }
  for (uint32_t k = 0; k < initial->surplus.count; k++)
    part.row[part.rows + part.checks++] = system->row[initial->surplus.data[k]];
  part.jacobian = jacobian_new(writer->heap, system->model, &system->layout, part.row, part.rows + part.checks,
                               part.column, part.columns);
  return part;
}

/* Start values of all columns over parameters: those given, and the solution as a guess for the others. */
static const char *name_starts(Writer *writer, const InitialPart *part) {
  const ExportSource *source = writer->source;
  const Model *model = source->evaluator->model;
  Dag *dag = writer->own->dag;
  ExprVec roots = {0};
  if (!export_restarts(source)) return "0";
  for (uint32_t q = 0; q < source->evaluator->array->columns; q++) {
    const InitialColumn *column = export_initial_column(source, q);
    bool moves = part->rows && part->moves[system_column(source->initial->system, q)];
    bool is_start = moves || (column->given && column->row == MAP_NONE);
    double value = is_start ? column->start : source->y[q], written;
    Expr root = dag_constant(dag, value);
    Expr start = column->named == MAP_NONE ? EXPR_NONE : model->variables.data[column->named].start;
    if (column->given && start != EXPR_NONE && evaluator_constant(source->evaluator, start, &written) &&
        column->sign * written == column->start)
      root = dag_scale(dag, column->sign, start);
    vec_push(writer->heap, &roots, root);
  }
  return add_roots(writer, roots.data, roots.count, "starts");
}

static void name_initial(Writer *writer, const InitialPart *part, ProgramNames *names) {
  const InitialSystem *system = writer->source->initial->system;
  names->initial_residual = names->initial_jacobian = "0";
  if (!part->rows) return;
  const Program *rows = program_new(writer->heap, system->model, &system->layout, part->row, part->rows + part->checks);
  names->initial_residual = add_program(writer, rows, "initial_residual");
  names->initial_jacobian = add_program(writer, part->jacobian->program, "initial_jacobian");
}

/* The operating point from which a circuit starts; NULL: there is none, or it is not needed. */
static const ExportPoint *point_of(const Writer *writer) {
  return export_restarts(writer->source) ? writer->source->point : NULL;
}

/* The start values that the operating point gives, and their columns. */
static void name_point(Writer *writer, ProgramNames *names, IndexVec *columns) {
  const ExportPoint *point = point_of(writer);
  ExprVec roots = {0};
  names->point_residual = names->point_jacobian = names->point_starts = names->point_conditions = "0";
  if (!point) return;
  Dag *dag = evaluator_model(point->evaluator)->dag;
  for (uint32_t q = 0; q < writer->source->evaluator->array->columns; q++) {
    const InitialColumn *column = export_initial_column(writer->source, q);
    Expr value = column->named == MAP_NONE ? EXPR_NONE : export_point_value(point, column->named);
    if (value == EXPR_NONE || !column->given) continue;
    vec_push(writer->heap, &roots, dag_scale(dag, column->sign, value));
    vec_push(writer->heap, columns, q);
  }
  const ArrayCode *code = point->evaluator->code;
  names->point_residual = add_program(writer, code->rows, "point_residual");
  names->point_jacobian = add_program(writer, code->jacobian->program, "point_jacobian");
  names->point_conditions = add_program(writer, code->conditions, "point_conditions");
  if (roots.count)
    names->point_starts = add_program(
        writer, program_new(writer->heap, evaluator_model(point->evaluator), &code->layout, roots.data, roots.count),
        "point_starts");
}

static ProgramNames name_programs(Writer *writer, const InitialPart *part, IndexVec *point_columns) {
  const ArrayCode *code = writer->source->evaluator->code;
  ProgramNames names = {0};
  names.residual = add_program(writer, code->rows, "residual");
  names.jacobian = add_program(writer, code->jacobian->program, "jacobian");
  names.kinks = code->modes->kinks ? add_program(writer, code->kinks, "kinks") : "0";
  names.kink_sizes = code->modes->kinks ? add_program(writer, code->kink_sizes, "kink_sizes") : "0";
  names.conditions = add_program(writer, code->conditions, "conditions");
  names.written = add_program(writer, code->written, "written");
  names.rates = add_program(writer, code->rates, "rates");
  names.initial_steps = add_program(writer, code->initial_steps, "initial_steps");
  names.lefts = add_program(writer, code->lefts, "lefts");
  names.actions = add_program(writer, code->actions, "actions");
  names.messages = messages_collect(writer->heap, writer->arena, writer->source);
  names.message_values = add_roots(writer, names.messages.values.data, names.messages.values.count, "message_values");
  names.delayed = add_program(writer, code->delayed, "delayed");
  names.delay_times = add_program(writer, code->delay_times, "delay_times");
  names.pipe_points = name_pipe_points(writer);
  names.branches = add_program(writer, writer->source->systems > 1 ? writer->source->conditions : NULL, "branches");
  names.samples = name_samples(writer);
  names.constants =
      add_roots(writer, writer->variables->constants.data, writer->variables->constants.count, "constants");
  names.starts = name_starts(writer, part);
  for (uint32_t l = 0; l + 1 < code->modes->logic->level_start.count; l++)
    vec_push(writer->heap, &names.levels,
             add_program(writer, code->levels[l], arena_printf(writer->arena, "level%u", l)));
  name_units(writer, &names);
  name_groups(writer, &names);
  name_dependents(writer, &names);
  name_initial(writer, part, &names);
  name_point(writer, &names, point_columns);
  return names;
}

static bool put_programs(Writer *writer, Diags *diags) {
  uint32_t objects;
  TextVec tables = {0};
  lookups_number(writer->arena, writer->source, &objects);
  if (objects) lookups_write(writer->heap, writer->arena, writer->source, &tables);
  return cdata_programs(writer->heap, writer->out, writer->source->evaluator->model, writer->programs.data,
                        writer->programs.count, "static ", objects ? &tables : NULL, diags);
}

/* Objects are written as numbers of tables. */
static void put_parameters(Writer *writer) {
  const Evaluator *evaluator = writer->source->evaluator;
  uint32_t count = evaluator->model->parameters.count, objects;
  const uint32_t *number = lookups_number(writer->arena, writer->source, &objects);
  double *values = arena_array(writer->arena, count, sizeof *values);
  for (uint32_t p = 0; p < count; p++) values[p] = number[p] == MAP_NONE ? evaluator->parameters[p] : number[p];
  cdata_numbers(writer->heap, writer->out, "static ", "parameters0", values, count);
}

/* ---- tables ---- */

static void put_flags(Writer *writer, const char *name, const bool *flags, uint32_t count) {
  PUT(writer, "static const bool %s[] = {", name);
  for (uint32_t k = 0; k < count; k++) PUT(writer, "%d, ", flags[k]);
  PUT(writer, "0};\n\n");
}

static void put_integers(Writer *writer, const char *name, uint32_t number, const char *what, const int32_t *values,
                         int32_t count) {
  cdata_integers(writer->heap, writer->out, "static ", arena_printf(writer->arena, "%s%u_%s", name, number, what),
                 values, (uint32_t)count);
}

/* A program in a table. */
static const char *program_of(Writer *writer, const char *function) {
  return strcmp(function, "0") == 0 ? function : arena_printf(writer->arena, "PROGRAM(%s)", function);
}

/* Writes blocks that have a matrix; those without are assigned explicitly. */
static void put_blocks(Writer *writer, const ProgramNames *names) {
  BlockShape *const *shapes = writer->source->evaluator->code->shapes;
  uint32_t blocks = (uint32_t)writer->source->structure->blocks.n_blocks, group = 0;
  PUT(writer, "#define PROGRAM(function) &(const Program){function}\n\n");
  for (uint32_t b = 0; shapes && b < blocks; b++) {
    const BlockShape *shape = shapes[b];
    if (!shape) continue;
    put_integers(writer, "block", b, "unknown", shape->unknown, shape->size);
    put_integers(writer, "block", b, "stage_rows", shape->stage_rows, shape->stages + 1);
    put_integers(writer, "block", b, "row_start", shape->row_start, shape->size + 1);
    put_integers(writer, "block", b, "column", shape->column, shape->row_start[shape->size]);
    PUT(writer, "static const BlockGroup block%u_groups[] = {", b);
    for (int32_t c = 0; c <= shape->stages; c++) {
      const BlockGroup *entries = &shape->group[c];
      PUT(writer, "{%d, %d, %s, %d, %d}, ", entries->first_entry, entries->entries,
          program_of(writer, names->groups.data[group++]), entries->linear, entries->constant);
    }
    PUT(writer, "{0, 0, 0, 0, 0}};\n");
    PUT(writer,
        "static const BlockShape block%u = {%d, %d, %d, block%u_unknown, block%u_stage_rows, block%u_row_start, "
        "block%u_column, block%u_groups, 0, 0};\n\n",
        b, shape->block, shape->size, shape->stages, b, b, b, b, b);
  }
}

static void put_choices(Writer *writer) {
  const ExportSource *source = writer->source;
  BlockShape *const *shapes = source->evaluator->code->shapes;
  uint32_t blocks = (uint32_t)source->structure->blocks.n_blocks, count = 0;
  bool *follows_sizes = arena_array(writer->arena, blocks, sizeof *follows_sizes);
  for (uint32_t b = 0; b < blocks; b++) {
    if (!dummy_blocks_choose(source->choice, (int32_t)b)) continue;
    double *preference = arena_array(writer->arena, (size_t)shapes[b]->size, sizeof *preference);
    follows_sizes[b] = preference_of_block(source->evaluator, shapes[b], preference);
    cdata_numbers(writer->heap, writer->out, "static ", arena_printf(writer->arena, "block%u_preference", b),
                  preference, (uint32_t)shapes[b]->size);
  }
  PUT(writer, "static const ChoicePlan choices[] = {\n");
  for (uint32_t b = 0; b < blocks; b++) {
    if (!dummy_blocks_choose(source->choice, (int32_t)b)) continue;
    PUT(writer, "    {&block%u, block%u_preference, %d},\n", b, b, follows_sizes[b]);
    count++;
  }
  PUT(writer, "    {0, 0, 0}};\n\nenum { CHOICES = %u };\n\n", count);
}

static void put_tangent(Writer *writer, uint32_t number, const TangentPlan *plan) {
  int32_t rows = plan->coordinates + plan->constraints;
  put_integers(writer, "tangent", number, "motion", plan->motion, plan->coordinates);
  put_integers(writer, "tangent", number, "acceleration", plan->acceleration, plan->coordinates);
  put_integers(writer, "tangent", number, "constraint", plan->constraint, plan->constraints);
  put_integers(writer, "tangent", number, "multiplier", plan->multiplier, plan->constraints);
  put_integers(writer, "tangent", number, "role", plan->role, rows);
  PUT(writer,
      "static const TangentPlan tangent%u = {%d, %d, tangent%u_motion, tangent%u_acceleration, tangent%u_constraint,\n"
      "    tangent%u_multiplier, tangent%u_role, &tangent_methods};\n\n",
      number, plan->coordinates, plan->constraints, number, number, number, number, number);
}

/* Arrays of a unit, which the list of units refers to. */
static void put_unit_arrays(Writer *writer, uint32_t number, const UnitPlan *unit) {
  if (unit->kind == UNIT_EXPLICIT)
    cdata_indices(writer->heap, writer->out, "static const uint32_t",
                  arena_printf(writer->arena, "unit%u_columns", number), unit->columns, (uint32_t)unit->count);
  if (unit->tangent) put_tangent(writer, number, unit->tangent);
}

static void put_unit(Writer *writer, const ProgramNames *names, uint32_t u, const UnitPlan *unit) {
  PUT(writer, "    {%d, %d, %d, %d, ", unit->kind, unit->block, unit->stage, unit->count);
  if (unit->kind == UNIT_EXPLICIT) PUT(writer, "unit%u_columns, ", u);
  else PUT(writer, "0, ");
  PUT(writer, "%s, %s, ", program_of(writer, names->units.data[u]), program_of(writer, names->joints.data[u]));
  PUT(writer, "%d, %d, %d, ", unit->first_entry, unit->entries, unit->entries_below);
  if (unit->kind == UNIT_EXPLICIT) PUT(writer, "0, ");
  else PUT(writer, "&block%d, ", unit->block);
  if (unit->tangent) PUT(writer, "&tangent%u, ", u);
  else PUT(writer, "0, ");
  PUT(writer, "%d, %d, %d, %d, %d},\n", unit->linear, unit->keeps, unit->below, unit->owner, unit->nonzeros);
}

static void put_units(Writer *writer, const ProgramNames *names) {
  const StatePlan *plan = writer->source->plan;
  for (uint32_t u = 0; u < plan->units.count; u++) put_unit_arrays(writer, u, &plan->units.data[u]);
  PUT(writer, "static const UnitPlan units[] = {\n");
  for (uint32_t u = 0; u < plan->units.count; u++) put_unit(writer, names, u, &plan->units.data[u]);
  PUT(writer, "    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};\n\n");
  put_flags(writer, "loose", plan->loose, (uint32_t)writer->source->structure->blocks.n_blocks);
  PUT(writer,
      "#define UNITS .units = {.count = %u, .serving = %u, .branched = %u, .unit = units, .loose = loose, .unknowns = "
      "%u, "
      ".d = d, .column_start = (const uint32_t *)column_start}\n\n",
      plan->units.count, plan->serving, plan->branched, plan->code->array->problem->unknowns);
}

static const char *kind_name(ConditionKind kind) {
  static const char *const names[] = {
      [CONDITION_LESS] = "CONDITION_LESS",         [CONDITION_LESS_EQUAL] = "CONDITION_LESS_EQUAL",
      [CONDITION_GREATER] = "CONDITION_GREATER",   [CONDITION_GREATER_EQUAL] = "CONDITION_GREATER_EQUAL",
      [CONDITION_FLOOR] = "CONDITION_FLOOR",       [CONDITION_CEIL] = "CONDITION_CEIL",
      [CONDITION_TRUNCATE] = "CONDITION_TRUNCATE", [CONDITION_SIGN] = "CONDITION_SIGN"};
  return names[kind];
}

static void put_modes(Writer *writer) {
  Evaluator *evaluator = writer->source->evaluator;
  const Modes *modes = evaluator->code->modes;
  PUT(writer, "static const Condition modes[] = {\n");
  for (uint32_t m = 0; m < modes->count; m++) {
    Condition mode = switches_condition(evaluator, m);
    PUT(writer, "    {%s, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d},\n", kind_name(mode.kind), mode.is_timed,
        mode.may_try, mode.matters, mode.is_remembered, mode.has_rate, mode.has_inner, mode.meets, mode.jumps,
        mode.edge, mode.is_mirrored);
  }
  PUT(writer, "    {CONDITION_LESS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};\n\nstatic const char *const mode_texts[] = {\n");
  for (uint32_t m = 0; m < modes->count; m++) {
    PUT(writer, "    ");
    cdata_string(writer->heap, writer->out, model_text(writer->own, modes->relation[m], writer->arena));
    PUT(writer, ",\n");
  }
  PUT(writer, "    0};\n\n");
}

static void put_enclosure(Writer *writer, const char *kind, uint32_t number, const Enclosure *enclosure) {
  const char *name = arena_printf(writer->arena, "timer%u_%s", number, kind);
  uint32_t children = 0;
  PUT(writer, "static const EnclosureStep %s[] = {\n", name);
  for (uint32_t i = 0; i < enclosure->count; i++) {
    const EnclosureStep *step = &enclosure->step[i];
    PUT(writer, "    {%d, %u, %u, %u, ", step->op, step->count, step->child, step->index);
    ctext_number(writer->heap, writer->out, step->constant);
    PUT(writer, "},\n");
    children += step->count;
  }
  PUT(writer, "    {0, 0, 0, 0, 0}};\n\n");
  cdata_indices(writer->heap, writer->out, "static const uint32_t", arena_printf(writer->arena, "%s_child", name),
                enclosure->child, children);
  cdata_numbers(writer->heap, writer->out, "static ", arena_printf(writer->arena, "%s_coefficient", name),
                enclosure->coefficient, children);
}

static void put_schedule(Writer *writer) {
  SchedulePlan plan = switches_schedule(writer->heap, writer->source->evaluator);
  for (uint32_t k = 0; k < plan.count; k++) {
    put_enclosure(writer, "difference", k, &plan.timer[k].difference);
    put_enclosure(writer, "rate", k, &plan.timer[k].rate);
  }
  PUT(writer, "static const TimerPlan timers[] = {\n");
  for (uint32_t k = 0; k < plan.count; k++) {
    const TimerPlan *timer = &plan.timer[k];
    PUT(writer, "    {%d, %s", timer->mode, kind_name(timer->kind));
    PUT(writer, ", {%u, timer%u_difference, timer%u_difference_child, timer%u_difference_coefficient}",
        timer->difference.count, k, k, k);
    PUT(writer, ", {%u, timer%u_rate, timer%u_rate_child, timer%u_rate_coefficient}, %u},\n", timer->rate.count, k, k,
        k, timer->held);
  }
  PUT(writer, "    {0, CONDITION_LESS, {0, 0, 0, 0}, {0, 0, 0, 0}, 0}};\n\n");
  PUT(writer, "#define SCHEDULE .timed = %s, .schedule = {%u, timers, %u, %u}\n\n",
      plan.count ? "&schedule_timed" : "0", plan.count, plan.room, plan.held);
}

static void put_step_list(Writer *writer, const char *name, const DecideStep *steps, int count) {
  PUT(writer, "static const DecideStep %s[] = {\n", name);
  for (int k = 0; k < count; k++)
    PUT(writer, "    {%d, %d, %d, %d},\n", steps[k].leaf, steps[k].fires, steps[k].is_parameter,
        steps[k].reads_columns);
  PUT(writer, "    {0, 0, 0, 0}};\n\n");
}

static void put_actions(Writer *writer, const DecidePlan *plan, const Messages *messages) {
  PUT(writer, "static const ModelPiece pieces[] = {\n");
  for (uint32_t k = 0; k < messages->pieces.count; k++) {
    const MessagePiece *piece = &messages->pieces.data[k];
    PUT(writer, "    {%d, %d, ", piece->guard, piece->value);
    cdata_string(writer->heap, writer->out, piece->text);
    PUT(writer, "},\n");
  }
  PUT(writer, "    {-1, -1, 0}};\n\n");

  const Logic *logic = writer->source->evaluator->code->modes->logic;
  PUT(writer, "static const DecideAction targets[] = {\n");
  for (int a = 0; a < plan->actions; a++)
    PUT(writer, "    {%d, %d, %d, %d},\n", plan->action[a].kind, plan->action[a].column, plan->action[a].sign,
        plan->action[a].is_initial);
  PUT(writer, "    {0, -1, 0, 0}};\n\nstatic const ModelAction actions[] = {\n");
  for (uint32_t a = 0; a < logic->actions.count; a++)
    PUT(writer, "    {%d, %d, %u, %u},\n", logic->actions.data[a].written->is_warning, logic->actions.data[a].in_when,
        messages->first.data[a], messages->first.data[a + 1]);
  PUT(writer, "    {0, 0, 0, 0}};\n\n");
}

/* The most pieces of the past that are kept: a compiler option can change it. */
static void put_delays(Writer *writer) {
  const ArrayCode *code = writer->source->evaluator->code;
  const Logic *logic = code->modes->logic;
  bool are_fixed = true;
  int points = 0;
  PUT(writer, "static const Delay delays[] = {\n");
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    Delay delay = past_delay(code, &code->modes->logic->delays.data[k], points);
    PUT(writer, "    {%d, %d, %d, %d, %d, %d, %d, %d},\n", delay.leaf, delay.matters, delay.is_fixed, delay.is_discrete,
        delay.is_pipe, delay.arrival, delay.points, delay.first_point);
    are_fixed = are_fixed && delay.is_fixed;
    points += 2 * delay.points;
  }
  PUT(writer, "    {0, 0, 0, 0, 0, 0, 0, 0}};\n\n#ifndef PAST_PIECES\n#define PAST_PIECES %d\n#endif\n\n",
      logic->delays.count ? 4096 : 1);
  PUT(writer, "enum { DELAYS = %u, HAS_FREE_DELAYS = %d, POINTS = %d };\n\n", logic->delays.count, !are_fixed, points);
}

static void put_bytes(Writer *writer, const char *name, const uint8_t *bytes, uint32_t count) {
  PUT(writer, "static const unsigned char %s[] = {", name);
  for (uint32_t k = 0; k < count; k++) PUT(writer, "%u, ", bytes[k]);
  PUT(writer, "0};\n\n");
}

static void put_logic(Writer *writer, const ProgramNames *names) {
  const Decisions *decisions = writer->source->decisions;
  DecidePlan plan = decisions ? decisions->decide.plan : (DecidePlan){0};
  const Modes *modes = writer->source->evaluator->code->modes;
  put_step_list(writer, "steps", plan.step, plan.levels ? plan.level_start[plan.levels] : 0);
  put_step_list(writer, "initial_steps", plan.initial_step, plan.initial_steps);
  PUT(writer, "static ModelProgram *const level_programs[] = {");
  for (int l = 0; l < plan.levels; l++) PUT(writer, "%s, ", names->levels.data[l]);
  PUT(writer, "0};\n\n");
  cdata_integers(writer->heap, writer->out, "static ", "level_start", plan.level_start,
                 plan.levels ? (uint32_t)plan.levels + 1 : 0);
  cdata_integers(writer->heap, writer->out, "static ", "lefts", plan.left, (uint32_t)plan.lefts);
  cdata_integers(writer->heap, writer->out, "static ", "samples", plan.sample, (uint32_t)plan.samples);
  put_bytes(writer, "is_real", plan.is_real, decisions ? modes_leaves(modes) : 0);
  put_actions(writer, &plan, &names->messages);
  PUT(writer,
      "#define DECIDE_PLAN .leaves = %u, .all = %u, .initial = %u, .terminal = %d, .levels = %d, .initial_steps = %d, "
      ".lefts = %d, "
      ".samples = %d, .actions = %d\n\n",
      modes->logic->leaves, modes_leaves(modes), modes->logic->initial, decisions ? plan.terminal : -1, plan.levels,
      plan.initial_steps, plan.lefts, plan.samples, plan.actions);
}

static const char *type_flag(BaseType type) {
  switch (type) {
  case TYPE_INTEGER: return "IS_INTEGER";
  case TYPE_BOOLEAN: return "IS_BOOLEAN";
  case TYPE_ENUMERATION: return "IS_ENUMERATION";
  default: return "IS_REAL";
  }
}

static void put_variables(Writer *writer) {
  static const char *const kinds[] = {"VARIABLE_COLUMN",    "VARIABLE_PARAMETER", "VARIABLE_DISCRETE",
                                      "VARIABLE_CONSTANT",  "VARIABLE_STATE",     "VARIABLE_RATE",
                                      "VARIABLE_INDICATOR", "VARIABLE_TIME"};
  uint32_t recorded = writer->source->recorder->signals->list.count;
  PUT(writer, "static const ModelVariable variables[] = {\n");
  for (uint32_t v = 0; v < writer->variables->list.count; v++) {
    const ExportVariable *variable = &writer->variables->list.data[v];
    PUT(writer, "    {");
    cdata_string(writer->heap, writer->out, variable->name);
    bool is_parameter = v < recorded && writer->source->recorder->signals->list.data[v].kind == SIGNAL_PARAMETER;
    PUT(writer, ", %s, %u, %d, %s%s%s%s%s%s},\n", kinds[variable->kind], variable->index, variable->sign,
        type_flag(variable->type), variable->causality == EXPORT_INPUT ? " | IS_INPUT" : "",
        !variable->is_settable                        ? ""
        : variable->causality == EXPORT_PARAMETER_SET ? " | IS_SETTABLE"
                                                      : " | IS_SETTABLE | IS_CALCULATED",
        variable->has_start ? " | IS_START" : "", variable->is_tunable ? " | IS_TUNABLE" : "",
        v < recorded && !is_parameter ? " | IS_RECORDED" : "");
  }
  PUT(writer, "    {0, VARIABLE_TIME, 0, 0, 0}};\n\n");
}

/* Writes the integrators, and their data for columns and for entries of the Jacobian. */
static void put_integrators(Writer *writer) {
  const ExportSource *source = writer->source;
  const Jacobian *jacobian = source->evaluator->jacobian;
  PUT(writer, "extern const Integrator integrator_%s%s;\n", source->integrator,
      export_may_slide(source) ? ", integrator_erk" : "");
  put_flags(writer, "given", state_plan_given(source->plan), jacobian->columns);
  put_flags(writer, "spare", state_plan_spare(source->plan), jacobian->columns);
  cdata_integers(writer->heap, writer->out, "static ", "follower", source->plan->follower,
                 (uint32_t)source->plan->followers);
  cdata_integers(writer->heap, writer->out, "static ", "given_by", source->plan->given_by,
                 source->evaluator->array->rows);
  put_flags(writer, "is_sized", source->evaluator->is_sized, jacobian->columns);
  put_flags(writer, "is_signed", source->evaluator->is_signed, jacobian->columns);
  put_flags(writer, "constant", jacobian->is_constant, jacobian->nonzeros);
}

/* Writes the columns that conditions read, and which of them follow time. */
static void put_watched(Writer *writer) {
  const Evaluator *evaluator = writer->source->evaluator;
  IndexVec columns = watched_columns(writer->heap, evaluator, evaluator->code->modes);
  const bool *marks = watched_marks(writer->heap, evaluator, &columns);
  cdata_indices(writer->heap, writer->out, "static const uint32_t", "watched_columns", columns.data, columns.count);
  if (marks) put_flags(writer, "watched_marks", marks, evaluator->array->columns);
  PUT(writer, "#define WATCHED .watched = %s, .watched_columns = watched_columns, .watched_count = %u\n\n",
      marks ? "watched_marks" : "0", columns.count);
}

/* Writes the columns that stateSelect prefers. */
static void put_preferred(Writer *writer) {
  IndexVec columns = preference_columns(writer->heap, writer->source->evaluator->array);
  cdata_indices(writer->heap, writer->out, "static const uint32_t", "preferred", columns.data, columns.count);
  PUT(writer, "#define PREFERRED .preferred = preferred, .preferred_count = %u\n\n", columns.count);
}

/* Writes the arrays that have an entry for each row, column, unknown or leaf. */
static void put_arrays(Writer *writer) {
  const ExportSource *source = writer->source;
  const Evaluator *evaluator = source->evaluator;
  const Array *array = evaluator->array;
  Arena *arena = writer->arena;
  uint32_t n = array->problem->unknowns, leaves = modes_leaves(evaluator->code->modes);
  const uint32_t *order = export_state_order(arena, source);
  double *starts = arena_array(arena, leaves, sizeof *starts);
  uint8_t *held = arena_array(arena, array->columns, sizeof *held),
          *matters = arena_array(arena, leaves, sizeof *matters);
  for (uint32_t q = 0; q < array->columns && export_restarts(source); q++) {
    const InitialColumn *column = export_initial_column(source, q);
    held[q] = column->fixed ? 2 : column->given && column->low;
  }
  for (uint32_t d = 0; d < leaves; d++) matters[d] = evaluator->code->matters[d];
  for (uint32_t d = 0; d < evaluator->model->discretes.count; d++) {
    const Initial *initial = source->initial;
    const Variable *variable = &evaluator->model->variables.data[evaluator->model->discretes.data[d]];
    starts[d] = variable->type == TYPE_ENUMERATION;
    if (initial && initial->discrete_starts) starts[d] = initial->discrete_starts[d];
    else if (variable->start != EXPR_NONE) evaluator_constant(source->evaluator, variable->start, &starts[d]);
  }
  Heap *heap = writer->heap;
  TextVec *out = writer->out;
  cdata_indices(heap, out, "static const int", "column_start", array->column_start, n + 1);
  cdata_integers(heap, out, "static ", "d", array->d, n);
  cdata_indices(heap, out, "static const uint32_t", "state_order", order, n);
  cdata_indices(heap, out, "static const int", "row_start", array->row_start, n);
  cdata_integers(heap, out, "static ", "c", array->c, n);
  cdata_indices(heap, out, "static const int", "row_equation", array->row_equation, array->rows);
  cdata_integers(heap, out, "static ", "depth0", dummy_depth(source->dummy), n);
  cdata_numbers(heap, out, "static ", "nominal", evaluator->nominal, array->columns);
  cdata_numbers(heap, out, "static ", "start_columns", source->y, array->columns);
  put_parameters(writer);
  cdata_numbers(heap, out, "static ", "discretes0", evaluator->discretes, leaves);
  cdata_numbers(heap, out, "static ", "pre0", evaluator->pre, leaves);
  cdata_numbers(heap, out, "static ", "discretes_start", starts, leaves);
  put_integrators(writer);
  put_watched(writer);
  put_preferred(writer);
  put_bytes(writer, "held", held, array->columns);
  put_bytes(writer, "matters", matters, leaves);
  cdata_integers(heap, out, "static ", "jacobian_start", evaluator->jacobian->column_start, array->columns + 1);
  cdata_integers(heap, out, "static ", "jacobian_row", evaluator->jacobian->row_index, evaluator->jacobian->nonzeros);
}

/* Writes the stages of a system, the nominal values of its unknowns, and the pattern of its derivatives. */
static void put_system(Writer *writer, const char *name, const StepsUnit *stages, uint32_t count, const double *nominal,
                       const Jacobian *jacobian) {
  const char *label = arena_printf(writer->arena, "%s_nominal", name);
  uint32_t columns = jacobian ? jacobian->columns : 0;
  cdata_numbers(writer->heap, writer->out, "static ", label, nominal, columns);
  label = arena_printf(writer->arena, "%s_start", name);
  cdata_integers(writer->heap, writer->out, "static ", label, jacobian ? jacobian->column_start : NULL,
                 jacobian ? columns + 1 : 0);
  label = arena_printf(writer->arena, "%s_row", name);
  cdata_integers(writer->heap, writer->out, "static ", label, jacobian ? jacobian->row_index : NULL,
                 jacobian ? jacobian->nonzeros : 0);
  PUT(writer, "static const ModelStage %s_stage[] = {", name);
  for (uint32_t k = 0; k < count; k++)
    PUT(writer, "{%u, %u, %d}, ", stages[k].rows, stages[k].columns, stages[k].is_nearest);
  PUT(writer, "{0, 0, 0}};\n\n");
}

/* Writes the initial system: its columns, their positions in the array, and its parameters. */
static void put_initial(Writer *writer, const InitialPart *part) {
  const ExportSource *source = writer->source;
  const InitialSystem *system = source->initial->system;
  bool any = part->rows != 0;
  uint32_t columns = any ? source->evaluator->array->columns : 0, count = any ? system->columns : 0;
  uint32_t *place = arena_array(writer->arena, columns, sizeof *place);
  double *target = arena_array(writer->arena, count, sizeof *target);
  double *nominal = arena_array(writer->arena, part->columns, sizeof *nominal);
  for (uint32_t q = 0; q < columns; q++) place[q] = system_column(system, q);
  for (uint32_t q = 0; q < count; q++) target[q] = source->initial->column[q].start;
  for (uint32_t k = 0; k < part->columns; k++) nominal[k] = system->nominal[part->column[k]];
  Heap *heap = writer->heap;
  TextVec *out = writer->out;
  cdata_indices(heap, out, "static const int", "initial_place", place, columns);
  cdata_indices(heap, out, "static const int", "initial_unknown", part->column, part->columns);
  cdata_numbers(heap, out, "static ", "initial_weight", part->weight, part->columns);
  cdata_numbers(heap, out, "static ", "initial_value", source->initial->value, count);
  cdata_numbers(heap, out, "static ", "initial_target", target, count);
  cdata_indices(heap, out, "static const int", "initial_parameter", any ? system->parameters.data : NULL,
                any ? system->parameters.count : 0);
  put_system(writer, "initial", part->stages.data, part->stages.count, nominal, part->jacobian);
  PUT(writer,
      "#define INITIAL_SIZES .stages = %u, .rows = %u, .checks = %u, .unknowns = %u, .columns = %u, .parameters = %u, "
      ".nonzeros = %u\n\n",
      part->stages.count, part->rows, part->checks, part->columns, count, any ? system->parameters.count : 0,
      any ? part->jacobian->nonzeros : 0);
}

/* Writes the operating point: all of its columns are unknowns. */
static void put_point(Writer *writer, const IndexVec *columns) {
  const ExportPoint *point = point_of(writer);
  Heap *heap = writer->heap;
  TextVec *out = writer->out;
  const Jacobian *jacobian = point ? point->evaluator->jacobian : NULL;
  uint32_t n = point ? point->evaluator->array->columns : 0, nonzeros = point ? jacobian->nonzeros : 0;
  int32_t *each = arena_array(writer->arena, n, sizeof *each);
  double *weight = arena_array(writer->arena, n, sizeof *weight);
  for (uint32_t k = 0; k < n; k++) each[k] = (int32_t)k, weight[k] = 1;
  cdata_integers(heap, out, "static ", "point_each", each, n);
  cdata_numbers(heap, out, "static ", "point_weight", weight, n);
  cdata_indices(heap, out, "static const int", "point_column", columns->data, columns->count);
  put_system(writer, "point", &(StepsUnit){.rows = n, .columns = n}, n != 0, point ? point->evaluator->nominal : NULL,
             jacobian);
  cdata_numbers(heap, out, "static ", "point_value", point ? point->y : NULL, n);
  const Modes *modes = point ? point->evaluator->code->modes : NULL;
  uint32_t count = modes ? modes->count : 0, leaves = modes ? modes_leaves(modes) : 0;
  int32_t *kind = arena_array(writer->arena, count, sizeof *kind);
  for (uint32_t m = 0; m < count; m++)
    kind[m] = (int32_t)mode_kind(dag_op(point->evaluator->model->dag, modes->relation[m]));
  cdata_integers(heap, out, "static ", "point_kind", kind, count);
  cdata_numbers(heap, out, "static ", "point_discretes", point ? point->evaluator->discretes : NULL, leaves);
  PUT(writer, "#define POINT_MODES .point_modes = %u, .point_first_mode = %u, .point_discretes = %u\n\n", count,
      modes ? modes->first : 0, leaves);
  PUT(writer, "#define POINT_SIZES .stages = %d, .rows = %u, .unknowns = %u, .columns = %u, .nonzeros = %u\n\n", n != 0,
      n, n, n, nonzeros);
}

/* ---- the whole ---- */

static void put_number(Writer *writer, const char *field, double value) {
  PUT(writer, "    .%s = ", field);
  ctext_number(writer->heap, writer->out, value);
  PUT(writer, ",\n");
}

static uint32_t state_count(const ExportSource *source) {
  const int32_t *from, *to;
  return dummy_links(source->dummy, &from, &to);
}

/* A model without large matrices needs no code for them. */
static void put_large(Writer *writer) {
  if (writer->source->number) return;
  PUT(writer, "const LargeDense *const large_dense = 0;\nconst LargeSparse *const large_sparse = %s;\n\n",
      export_has_large(writer->source) ? "&large_plain" : "0");
}

/* Writes the list of the model's systems, in the text of the first one, and the branches for which the present system is
 * made. */
static void put_systems(Writer *writer) {
  const ExportSource *source = writer->source;
  uint32_t branches = source->systems > 1 ? source->branches->count : 0;
  if (!branches) return;
  if (source->holds) {
    PUT(writer, "static const unsigned char holds[] = {");
    for (uint32_t k = 0; k < branches; k++) PUT(writer, "%d, ", source->holds[k]);
    PUT(writer, "0};\n\n");
  }
  const char **texts = arena_array(writer->arena, branches, sizeof *texts);
  for (uint32_t k = 0; k < branches; k++)
    texts[k] = model_text(writer->own, source->branches->condition[k], writer->arena);
  PUT(writer, "static ");
  cdata_strings(writer->heap, writer->out, "branch_text", texts, branches);
  for (uint32_t k = 1; k < source->systems && !source->number; k++)
    PUT(writer, "extern const Model model_tables%u;\n", k);
  PUT(writer, "static const Model *const systems[] = {");
  for (uint32_t k = 0; k < source->systems && !source->number; k++)
    PUT(writer, k ? "&model_tables%u, " : "&model_tables, ", k);
  PUT(writer, "0};\n\n");
}

static void put_model(Writer *writer, const ProgramNames *names, uint32_t work, uint32_t point_columns) {
  const ExportSource *source = writer->source;
  const Evaluator *evaluator = source->evaluator;
  const Array *array = evaluator->array;
  const Modes *modes = evaluator->code->modes;
  if (source->number)
    PUT(writer, "extern const Model model_tables%u;\nconst Model model_tables%u", source->number, source->number);
  else PUT(writer, "const Model model_tables");
  PUT(writer, " = {\n    .name = ");
  cdata_string(writer->heap, writer->out, source->name);
  PUT(writer, ",\n");
  if (source->systems > 1)
    PUT(writer,
        "    .systems = %u, .branches = %u, .system = systems, .holds = %s, .branch_program = %s,\n"
        "    .branch_text = branch_text,\n",
        source->number ? 1 : source->systems, source->branches->count, source->holds ? "holds" : "0", names->branches);
  PUT(writer, "    .integrator = &integrator_%s, .sliding = %s,\n", source->integrator,
      export_may_slide(source) ? "&integrator_erk" : "0");
  PUT(writer,
      "    WATCHED, PREFERRED, .given = given, .is_sized = is_sized, .is_signed = is_signed, .spare = spare, .constant "
      "= "
      "constant,\n    .follower = follower, .given_by = given_by, .followers = %d,\n"
      "    .is_rough = %d, .kinks = %u, .has_few_kinks = %d, .folds = %s, .kink_program = %s,\n",
      (int)source->plan->followers, evaluator->code->is_rough, (unsigned)evaluator->code->modes->kinks,
      evaluator->code->modes->kinks <= FEW_BENDS,
      export_watches_branch(source) ? "&(const SolverFolds){&folds, folds_report, branch_watch}"
      : export_may_fold(source)     ? "&(const SolverFolds){&folds, folds_report, 0}"
                                    : "0",
      names->kinks);
  PUT(writer, "    .kink_sizes = %s,\n", names->kink_sizes);
  put_number(writer, "start", source->start);
  put_number(writer, "stop", source->stop);
  put_number(writer, "tolerance", source->tolerance);
  put_number(writer, "interval", source->interval);
  put_number(writer, "max_step", source->max_step);
  PUT(writer, "    .unknowns = %u, .rows = %u, .columns = %u, .parameters = %u, .discretes = %u,\n",
      array->problem->unknowns, array->rows, array->columns, evaluator->model->parameters.count, modes_leaves(modes));
  PUT(writer, "    .has_logic = %d, .states = %u, .work = %u,\n", source->decisions != NULL, state_count(source), work);
  PUT(writer,
      "    .column_start = column_start, .d = d, .order = state_order, .row_start = row_start, .c = c,\n"
      "    .row_equation = row_equation, .nominal = nominal, .held = held, .y0 = start_columns,\n"
      "    .parameters0 = parameters0, .discretes0 = discretes0, .pre0 = pre0, .discretes_start = discretes_start,\n"
      "    .depth0 = depth0, .choices = CHOICES, .choice = choices, UNITS,\n");
  PUT(writer,
      "    .residual = %s, .jacobian = %s, .nonzeros = %u,\n"
      "    .jacobian_start = jacobian_start,\n"
      "    .jacobian_row = jacobian_row, .mode = modes, .mode_text = mode_texts, .conditions = %s, .written = %s, "
      ".rates = %s,\n",
      names->residual, names->jacobian, evaluator->jacobian->nonzeros, names->conditions, names->written, names->rates);
  PUT(writer,
      "    .modes = %u, .first_mode = %u, SCHEDULE, .dependents = %u, .constants = %u, .can_start = %d, .variables = "
      "%u,\n"
      "    .has_choice = %d,\n",
      modes->count, modes->first, writer->variables->dependents.count, writer->variables->constants.count,
      export_restarts(source), writer->variables->list.count, source->chooses);
  PUT(writer,
      "    .decide = {DECIDE_PLAN, .level_start = level_start, .step = steps, .initial_step = initial_steps,\n"
      "        .left = lefts, .sample = samples, .action = targets, .matters = matters, .is_real = is_real},\n"
      "    .level_program = level_programs, .initial_program = %s,\n"
      "    .lefts_program = %s, .samples_program = %s, .actions_program = %s,\n"
      "    .message_values = %u, .messages_program = %s, .piece = pieces,\n"
      "    .action = actions, .dependent_program = dependent_programs, .dependent = dependents,\n"
      "    .constants_program = %s, .starts_program = %s, .variable = variables,\n"
      "    .delays = DELAYS, .has_free_delays = HAS_FREE_DELAYS, .pieces = PAST_PIECES, .delay = delays,\n"
      "    .delayed = %s, .delay_times = %s, .pipe_points = %s, .points = POINTS,\n"
      "    .start_system = {INITIAL_SIZES, .stage = initial_stage, .place = initial_place,\n"
      "        .unknown = initial_unknown, .parameter = initial_parameter, .start = initial_start, .row = "
      "initial_row,\n"
      "        .weight = initial_weight, .nominal = initial_nominal, .value = initial_value, .target = "
      "initial_target,\n"
      "        .residual = %s, .jacobian = %s},\n"
      "    .point = {POINT_SIZES, .stage = point_stage, .unknown = point_each, .start = point_start, .row = "
      "point_row,\n"
      "        .weight = point_weight, .nominal = point_nominal, .value = point_value, .target = point_value,\n"
      "        .residual = %s, .jacobian = %s},\n"
      "    .point_count = %u, .point_column = point_column, .point_starts = %s, POINT_MODES,\n"
      "    .point_kind = point_kind, .point_discretes0 = point_discretes, .point_conditions = %s};\n",
      names->initial_steps, names->lefts, names->samples, names->actions, names->messages.values.count,
      names->message_values, names->constants, names->starts, names->delayed, names->delay_times, names->pipe_points,
      names->initial_residual, names->initial_jacobian, names->point_residual, names->point_jacobian, point_columns,
      names->point_starts, names->point_conditions);
}

bool export_tables(Heap *heap, Arena *arena, const ExportSource *source, const ExportVariables *variables, TextVec *out,
                   Diags *diags) {
  Writer writer = {heap, arena, source, variables, evaluator_model(source->evaluator), .out = out};
  InitialPart part = initial_part(&writer);
  IndexVec point_columns = {0};
  ProgramNames names = name_programs(&writer, &part, &point_columns);
  uint32_t work = 0;
  for (uint32_t k = 0; k < writer.programs.count; k++)
    if (program_text_work(&writer.programs.data[k]) > work) work = program_text_work(&writer.programs.data[k]);
  PUT(&writer, "/* The model ");
  cdata_comment(heap, out, source->name);
  PUT(&writer, ": its equations and tables, written by daedal; see solver.h. */\n#include \"large.h\"\n#include "
               "\"solver.h\"\n\n");
  if (!put_programs(&writer, diags)) return false;
  put_blocks(&writer, &names);
  put_choices(&writer);
  put_units(&writer, &names);
  put_modes(&writer);
  put_schedule(&writer);
  put_logic(&writer, &names);
  put_delays(&writer);
  put_arrays(&writer);
  put_initial(&writer, &part);
  put_point(&writer, &point_columns);
  put_variables(&writer);
  PUT(&writer, "static ModelProgram *const dependent_programs[] = {");
  for (uint32_t k = 0; k < names.dependents.count; k++) PUT(&writer, "%s, ", names.dependents.data[k]);
  PUT(&writer, "0};\n\n");
  cdata_indices(heap, out, "static const int", "dependents", variables->dependents.data, variables->dependents.count);
  put_systems(&writer);
  put_large(&writer);
  put_model(&writer, &names, work, point_columns.count);
  return true;
}

const char *export_file_name(Arena *arena, uint32_t system) {
  return system ? arena_printf(arena, "model%u.c", system) : "model.c";
}
