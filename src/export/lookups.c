/* lookups: see lookups.h. */
#include "export/lookups.h"

#include "code/cdata.h"
#include "code/dependents.h"
#include "external/table.h"

#include <string.h>

#define PUT(writer, ...) text_printf((writer)->heap, (writer)->out, __VA_ARGS__)

typedef struct LookupWriter {
  Heap *heap;
  Arena *arena;
  TextVec *out;
  uint32_t number; /* of the table */
} LookupWriter;

static const Variable *parameter_of(const Model *model, uint32_t p) {
  return &model->variables.data[model->parameters.data[p]];
}

static bool is_object(const Model *model, uint32_t p) { return parameter_of(model, p)->type == TYPE_EXTERNAL_OBJECT; }

static const Lookup *lookup_of(const ExportSource *source, uint32_t p) {
  return table_lookup(external_instance(source->evaluator->parameters[p]));
}

const uint32_t *lookups_number(Arena *arena, const ExportSource *source, uint32_t *count) {
  const Model *model = source->evaluator->model;
  uint32_t *number = arena_array(arena, model->parameters.count, sizeof *number);
  *count = 0;
  for (uint32_t p = 0; p < model->parameters.count; p++) number[p] = is_object(model, p) ? (*count)++ : MAP_NONE;
  return number;
}

/* An array of numbers of the table; returns its name, or 0 if there is none. */
static const char *put_numbers(const LookupWriter *writer, const char *what, const double *numbers, size_t count) {
  if (!numbers) return "0";
  const char *name = arena_printf(writer->arena, "lookup%u_%s", writer->number, what);
  cdata_numbers(writer->heap, writer->out, "static ", name, numbers, (uint32_t)count);
  return name;
}

static void put_curves(const LookupWriter *writer, const Lookup *lookup) {
  const char **y = arena_array(writer->arena, lookup->count, sizeof *y);
  const char **slope = arena_array(writer->arena, lookup->count, sizeof *slope);
  const Curve *first = lookup->curves;
  const char *x = put_numbers(writer, "x", first->x, first->count);
  for (uint32_t k = 0; k < lookup->count; k++) {
    const Curve *curve = &lookup->curves[k];
    y[k] = put_numbers(writer, arena_printf(writer->arena, "y%u", k), curve->y, curve->count);
    slope[k] = put_numbers(writer, arena_printf(writer->arena, "slope%u", k), curve->slope, curve->count);
  }
  PUT(writer, "static const Curve lookup%u_curves[] = {\n", writer->number);
  for (uint32_t k = 0; k < lookup->count; k++)
    PUT(writer, "    {%d, %d, %u, %s, %s, %s},\n", lookup->curves[k].smoothness, lookup->curves[k].extrapolation,
        lookup->curves[k].count, x, y[k], slope[k]);
  PUT(writer, "    {%d, %d, %u, %s, %s, 0}};\n\n", first->smoothness, first->extrapolation, first->count, x, x);
}

static void put_events(const LookupWriter *writer, const TimeEvents *events) {
  const char *places = put_numbers(writer, "places", events->places, events->count);
  PUT(writer, "static const TimeEvents lookup%u_events = {", writer->number);
  ctext_number(writer->heap, writer->out, events->start);
  PUT(writer, ", ");
  ctext_number(writer->heap, writer->out, events->shift);
  PUT(writer, ", %d, %d, %u, %s};\n\n", events->is_periodic, events->begins, events->count, places);
}

static void put_grid(const LookupWriter *writer, const Grid *grid) {
  size_t points = (size_t)grid->axis[0].count * grid->axis[1].count;
  const char *x[2], *slope[2];
  for (uint32_t k = 0; k < 2; k++) {
    x[k] = put_numbers(writer, k ? "v" : "u", grid->axis[k].x, grid->axis[k].count);
    slope[k] = put_numbers(writer, k ? "slope_v" : "slope_u", grid->slope[k], points);
  }
  const char *z = put_numbers(writer, "z", grid->z, points), *twist = put_numbers(writer, "twist", grid->twist, points);
  PUT(writer, "static const Grid lookup%u_grid = {{{%u, %s}, {%u, %s}}, %s, {%s, %s}, %s, %d, %d};\n\n", writer->number,
      grid->axis[0].count, x[0], grid->axis[1].count, x[1], z, slope[0], slope[1], twist, grid->smoothness,
      grid->extrapolation);
}

void lookups_write(Heap *heap, Arena *arena, const ExportSource *source, TextVec *out) {
  const Model *model = source->evaluator->model;
  uint32_t count;
  const uint32_t *number = lookups_number(arena, source, &count);
  LookupWriter own = {heap, arena, out, 0}, *writer = &own;
  TextVec list = {0};
  PUT(writer, "#include \"lookup.h\"\n\n");
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    if (number[p] == MAP_NONE) continue;
    const Lookup *lookup = lookup_of(source, p);
    writer->number = number[p];
    if (lookup->grid) put_grid(writer, lookup->grid);
    else put_curves(writer, lookup);
    if (lookup->events) put_events(writer, lookup->events);
    text_printf(heap, &list, "    {%u, %s, %s, %s},\n", lookup->count,
                lookup->grid ? "0" : arena_printf(arena, "lookup%u_curves", number[p]),
                lookup->events ? arena_printf(arena, "&lookup%u_events", number[p]) : "0",
                lookup->grid ? arena_printf(arena, "&lookup%u_grid", number[p]) : "0");
  }
  PUT(writer, "enum { LOOKUPS = %u };\n\nstatic const Lookup lookups[] = {\n%s    {0, 0, 0, 0}};\n\n", count,
      list.data);
  vec_free(heap, &list);
}

const bool *lookups_parameters(Arena *arena, const ExportSource *source) {
  Evaluator *evaluator = source->evaluator;
  const Model *model = evaluator->model;
  bool *is_used = arena_array(arena, model->parameters.count, sizeof *is_used);
  IndexVec objects = {0};
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (is_object(model, p)) vec_push(evaluator->heap, &objects, p);
  dependents_mark_sources(evaluator, &objects, is_used);
  vec_free(evaluator->heap, &objects);
  return is_used;
}
