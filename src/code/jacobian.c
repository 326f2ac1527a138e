/* jacobian: exact sparse derivatives of rows with respect to columns. Rows of one shape are differentiated once: the gradient of
 * the first row of the shape gives the partials, and each further row only inserts its own leaves. Numbers that differ between
 * the rows of a shape become parameters before rows are differentiated, so that every simplification holds for all of them. */
#include "code/program_internal.h"

#include <string.h>

/* Columns that are not requested are a separate kind of leaf, so all rows of a template need the same partials. */
enum { OTHER_COLUMN = STORE_COUNT };

/* A placeholder for a number that differs between the rows of a shape: the index of a parameter that no model has. */
enum { FIRST_NUMBER_PARAMETER = 0x30000000 };

/* The partials of a row or of a template: entries [first, first + count) of partials, slots and leaves. */
typedef struct PartialRange {
  uint32_t first, count;
} PartialRange;

typedef struct RowInfo {
  uint32_t shape;        /* template; MAP_NONE if the row is a leaf */
  uint32_t first_item;   /* its slots in templates.items */
  PartialRange gradient; /* gradient of a row that is not run as a template */
} RowInfo;

typedef struct JacobianBuild {
  Heap *heap;
  Model *model;
  Dag *dag;
  const Layout *layout;
  const Expr *rows;
  uint32_t row_count;
  uint32_t *column_of; /* position in y -> column of the matrix, or MAP_NONE */
  Graph graph;
  uint8_t *boundary;
  Templates templates;
  bool *varies; /* per entry of templates.stores: a number in which the rows differ */
  RowInfo *info;
  PartialRange *shape;      /* per template */
  ExprVec partials, leaves; /* partials of gradients; leaves of the row itself or of the template's first row */
  IndexVec slots;           /* slots of leaves, in templates */
} JacobianBuild;

static bool runs_as_template(const JacobianBuild *work, uint32_t row) {
  uint32_t shape = work->info[row].shape;
  return shape != MAP_NONE && work->templates.list.data[shape].instances >= TEMPLATE_MINIMUM;
}

/* ---- shapes ---- */

static bool is_wanted(const JacobianBuild *work, Expr leaf) {
  return work->column_of[leaf_place(work->layout, work->dag, leaf)] != MAP_NONE;
}

static void mark_boundary(JacobianBuild *work) {
  for (uint32_t p = 0; p < work->graph.nodes.count; p++) {
    Expr e = work->graph.nodes.data[p];
    Op op = dag_op(work->dag, e);
    if (op == OP_VARIABLE && !is_wanted(work, e)) work->boundary[p] = OTHER_COLUMN + 1;
    else if (op_kind(op) == KIND_LEAF || !op_has_value(op)) work->boundary[p] = (uint8_t)(leaf_store(op) + 1);
  }
}

static void find_shapes(JacobianBuild *work) {
  for (uint32_t r = 0; r < work->row_count; r++) {
    RowInfo *info = &work->info[r];
    info->shape = MAP_NONE;
    if (work->boundary[graph_position(&work->graph, work->rows[r])]) continue;
    info->first_item = work->templates.items.count;
    info->shape = templates_add(&work->templates, work->rows[r]);
  }
}

static void find_varying_numbers(JacobianBuild *work) {
  const Templates *templates = &work->templates;
  work->varies = heap_array(work->heap, templates->stores.count, sizeof *work->varies);
  for (uint32_t r = 0; r < work->row_count; r++) {
    if (!runs_as_template(work, r)) continue;
    const Template *template = &templates->list.data[work->info[r].shape];
    const uint32_t *own = templates->items.data + work->info[r].first_item;
    const uint32_t *first = templates->items.data + template->first_item;
    for (uint32_t s = 0; s < template->slots; s++)
      if (templates->stores.data[template->first_store + s] == STORE_CONSTANT && own[s] != first[s])
        work->varies[template->first_store + s] = true;
  }
}

/* ---- numbers as parameters ---- */

/* parameter_of: bits of a number -> parameter leaf. */
static Expr number_leaf(const Map *parameter_of, double number) { return map_get(parameter_of, number_key(number)); }

static Expr abstract_sum(Dag *dag, Heap *heap, Expr e, const Expr *children, const Map *parameter_of) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(dag, e, &constant, &terms);
  VEC(Term) list = {0};
  double *coefficients = heap_array(heap, count, sizeof *coefficients);
  for (uint32_t t = 0; t < count; t++) coefficients[t] = terms[t].coefficient;
  Expr leaf = constant == 0 ? MAP_NONE : number_leaf(parameter_of, constant);
  if (leaf != MAP_NONE) {
    vec_push(heap, &list, (Term){1, leaf});
    constant = 0;
  }
  for (uint32_t t = 0; t < count; t++) {
    leaf = coefficients[t] == 1 || coefficients[t] == -1 ? MAP_NONE : number_leaf(parameter_of, coefficients[t]);
    if (leaf == MAP_NONE) vec_push(heap, &list, (Term){coefficients[t], children[t]});
    else vec_push(heap, &list, (Term){1, dag_multiply(dag, leaf, children[t])});
  }
  Expr sum = dag_sum(dag, constant, list.data, list.count);
  vec_free(heap, &list);
  heap_free(heap, coefficients);
  return sum;
}

static Expr abstract_node(Dag *dag, Heap *heap, Expr e, const Expr *children, const Map *parameter_of) {
  double value;
  if (dag_is_constant(dag, e, &value)) {
    Expr leaf = number_leaf(parameter_of, value);
    return leaf == MAP_NONE ? e : leaf;
  }
  if (dag_op(dag, e) == OP_SUM) return abstract_sum(dag, heap, e, children, parameter_of);
  return dag_rebuild(dag, e, children);
}

/* A copy of the expression with its numbers replaced by the parameters that `parameter_of` maps them to. Numbers that belong to the
 * structure, such as exponents, stay. */
static Expr abstract_root(Dag *dag, Heap *heap, Expr root, const Map *parameter_of) {
  Graph graph = graph_make(heap, dag, &root, 1, NULL);
  Expr *made = heap_array(heap, graph.nodes.count, sizeof *made);
  ExprVec children = {0};
  for (uint32_t p = 0; p < graph.nodes.count; p++) {
    Expr e = graph.nodes.data[p];
    children.count = 0;
    for (uint32_t c = 0; c < dag_child_count(dag, e); c++) {
      uint32_t position = graph_position(&graph, dag_child(dag, e, c));
      bool is_structure = position == MAP_NONE || (c == 1 && node_exponent(dag, e, NULL));
      vec_push(heap, &children, is_structure ? dag_child(dag, e, c) : made[position]);
    }
    made[p] = abstract_node(dag, heap, e, children.data, parameter_of);
  }
  Expr result = made[graph.nodes.count - 1];
  vec_free(heap, &children);
  heap_free(heap, made);
  graph_free(&graph);
  return result;
}

/* ---- gradients ---- */

/* Appends the partial derivatives with respect to the requested columns. */
static PartialRange add_gradient(JacobianBuild *work, Expr row) {
  PartialRange gradient = {.first = work->partials.count};
  uint32_t kept = gradient.first;
  dag_gradient(work->dag, row, &work->leaves, &work->partials);
  for (uint32_t p = kept; p < work->partials.count; p++) {
    if (!is_wanted(work, work->leaves.data[p])) continue;
    work->leaves.data[kept] = work->leaves.data[p];
    work->partials.data[kept++] = work->partials.data[p];
  }
  work->leaves.count = work->partials.count = kept;
  gradient.count = kept - gradient.first;
  return gradient;
}

static void differentiate_template(JacobianBuild *work, uint32_t shape) {
  const Templates *templates = &work->templates;
  const Template *template = &templates->list.data[shape];
  const uint32_t *items = templates->items.data + template->first_item;
  Map parameter_of = map_make(work->heap), slot_of = map_make(work->heap);
  for (uint32_t s = 0; s < template->slots; s++) {
    if (work->varies[template->first_store + s])
      map_put(&parameter_of, number_key(templates->numbers.data[items[s]]),
              dag_parameter(work->dag, FIRST_NUMBER_PARAMETER + s));
    if (templates->stores.data[template->first_store + s] != STORE_CONSTANT) map_put(&slot_of, items[s], s);
  }
  Expr root = parameter_of.count ? abstract_root(work->dag, work->heap, template->root, &parameter_of) : template->root;
  work->shape[shape] = add_gradient(work, root);
  for (uint32_t p = work->slots.count; p < work->leaves.count; p++)
    vec_push(work->heap, &work->slots, map_get(&slot_of, work->leaves.data[p]));
  map_free(&parameter_of);
  map_free(&slot_of);
}

static void differentiate_all(JacobianBuild *work) {
  for (uint32_t t = 0; t < work->templates.list.count; t++)
    if (work->templates.list.data[t].instances >= TEMPLATE_MINIMUM) differentiate_template(work, t);
  for (uint32_t r = 0; r < work->row_count; r++)
    if (!runs_as_template(work, r)) work->info[r].gradient = add_gradient(work, work->rows[r]);
}

static PartialRange gradient_of(const JacobianBuild *work, uint32_t row) {
  return runs_as_template(work, row) ? work->shape[work->info[row].shape] : work->info[row].gradient;
}

/* The column leaf of partial p of a row. */
static Expr row_leaf(const JacobianBuild *work, uint32_t row, uint32_t p) {
  if (!runs_as_template(work, row)) return work->leaves.data[p];
  return work->templates.items.data[work->info[row].first_item + work->slots.data[p]];
}

static uint32_t row_column(const JacobianBuild *work, uint32_t row, uint32_t p) {
  return work->column_of[leaf_place(work->layout, work->dag, row_leaf(work, row, p))];
}

static JacobianBuild differentiation_make(Heap *heap, Model *model, const Layout *layout, const Expr *rows,
                                          uint32_t count, const uint32_t *positions, uint32_t position_count) {
  JacobianBuild work = {
      .heap = heap, .model = model, .dag = model->dag, .layout = layout, .rows = rows, .row_count = count};
  work.column_of = heap_array(heap, layout->columns, sizeof *work.column_of);
  memset(work.column_of, 0xff, layout->columns * sizeof *work.column_of);
  for (uint32_t c = 0; c < position_count; c++) work.column_of[positions[c]] = c;
  work.graph = graph_make(heap, model->dag, rows, count, NULL);
  work.boundary = heap_array(heap, work.graph.nodes.count, sizeof *work.boundary);
  mark_boundary(&work);
  work.templates = templates_make(heap, &work.graph, work.boundary);
  work.info = heap_array(heap, count, sizeof *work.info);
  find_shapes(&work);
  find_varying_numbers(&work);
  work.shape = heap_array(heap, work.templates.list.count, sizeof *work.shape);
  differentiate_all(&work);
  return work;
}

static void differentiation_free(JacobianBuild *work) {
  heap_free_all(work->heap, work->column_of, work->boundary, work->info, work->varies, work->shape);
  vec_free(work->heap, &work->partials, &work->leaves, &work->slots);
  templates_free(&work->templates);
  graph_free(&work->graph);
}

/* ---- pattern ---- */

static bool is_constant_entry(Dag *dag, Expr partial) {
  return !dag_depends(dag, partial, OP_VARIABLE) && !dag_depends(dag, partial, OP_TIME) &&
         !dag_depends(dag, partial, OP_DISCRETE) && !dag_depends(dag, partial, OP_PRE);
}

static void make_pattern(JacobianBuild *work, Jacobian *jacobian) {
  Heap *heap = work->heap;
  jacobian->column_start = heap_array(heap, jacobian->columns + 1, sizeof *jacobian->column_start);
  for (uint32_t r = 0; r < work->row_count; r++) {
    PartialRange gradient = gradient_of(work, r);
    for (uint32_t p = gradient.first; p < gradient.first + gradient.count; p++)
      jacobian->column_start[row_column(work, r, p) + 1]++;
  }
  for (uint32_t c = 0; c < jacobian->columns; c++) jacobian->column_start[c + 1] += jacobian->column_start[c];
  jacobian->nonzeros = (uint32_t)jacobian->column_start[jacobian->columns];
  jacobian->row_index = heap_array(heap, jacobian->nonzeros, sizeof *jacobian->row_index);
  jacobian->is_constant = heap_array(heap, jacobian->nonzeros, sizeof *jacobian->is_constant);
}

/* ---- the program ---- */

/* The places for entries: `next` is the next free entry of each column, and rows are visited in order. */
typedef struct Filling {
  JacobianBuild *work;
  Grouping grouping;
  uint32_t *next;     /* per column */
  uint32_t *group_of; /* per template */
  uint32_t *used;     /* per template: instances filled */
  uint32_t number_base;
  ExprVec roots; /* straight code, with its outputs */
  IndexVec places;
} Filling;

static void make_group(Filling *filling, uint32_t shape) {
  JacobianBuild *work = filling->work;
  const Template *template = &work->templates.list.data[shape];
  PartialRange gradient = work->shape[shape];
  if (template->instances < TEMPLATE_MINIMUM || gradient.count == 0) return;
  filling->group_of[shape] = filling->grouping.groups.count;
  Group *group = grouping_add_group(&filling->grouping, 0, template->instances, template->slots, gradient.count);
  for (uint32_t p = 0; p < gradient.count; p++) group->roots[p] = work->partials.data[gradient.first + p];
  for (uint32_t s = 0; s < template->slots; s++) {
    uint32_t store = work->templates.stores.data[template->first_store + s];
    uint32_t item = work->templates.items.data[template->first_item + s];
    group->stores[s] = store == OTHER_COLUMN ? STORE_COLUMN : (Store)store;
    if (store != STORE_CONSTANT) map_put(&group->map.nodes, item, s);
    else if (work->varies[template->first_store + s])
      map_put(&group->map.nodes, dag_parameter(work->dag, FIRST_NUMBER_PARAMETER + s), s);
  }
  for (uint32_t p = 0; p < gradient.count; p++) group->stores[template->slots + p] = STORE_OUTPUT;
}

static uint32_t next_entry(Filling *filling, uint32_t row, uint32_t p) {
  return filling->next[row_column(filling->work, row, p)]++;
}

static uint32_t *lane_place(const Group *group, uint32_t lane, uint32_t instance) {
  return &group->places[(size_t)lane * group->instances + instance];
}

static void fill_instance(Filling *filling, uint32_t row) {
  JacobianBuild *work = filling->work;
  const RowInfo *info = &work->info[row];
  PartialRange gradient = work->shape[info->shape];
  if (filling->group_of[info->shape] == MAP_NONE) return;
  Group *group = &filling->grouping.groups.data[filling->group_of[info->shape]];
  uint32_t instance = filling->used[info->shape]++, lane = 0;
  for (; lane < group->slots; lane++) {
    uint32_t item = work->templates.items.data[info->first_item + lane];
    *lane_place(group, lane, instance) =
        group->stores[lane] == STORE_CONSTANT ? filling->number_base + item : leaf_place(work->layout, work->dag, item);
  }
  for (uint32_t p = gradient.first; p < gradient.first + gradient.count; p++)
    *lane_place(group, lane++, instance) = next_entry(filling, row, p);
}

static void fill_straight(Filling *filling, uint32_t row) {
  JacobianBuild *work = filling->work;
  PartialRange gradient = work->info[row].gradient;
  for (uint32_t p = gradient.first; p < gradient.first + gradient.count; p++) {
    vec_push(work->heap, &filling->roots, work->partials.data[p]);
    vec_push(work->heap, &filling->places, next_entry(filling, row, p));
  }
}

static Filling filling_make(JacobianBuild *work, const Jacobian *jacobian) {
  Heap *heap = work->heap;
  uint32_t shapes = work->templates.list.count;
  Filling filling = {.work = work, .grouping = grouping_make(heap, work->model, work->layout)};
  filling.next = heap_array(heap, jacobian->columns, sizeof *filling.next);
  for (uint32_t c = 0; c < jacobian->columns; c++) filling.next[c] = (uint32_t)jacobian->column_start[c];
  filling.group_of = heap_array(heap, shapes, sizeof *filling.group_of);
  memset(filling.group_of, 0xff, shapes * sizeof *filling.group_of);
  filling.used = heap_array(heap, shapes, sizeof *filling.used);
  for (uint32_t n = 0; n < work->templates.numbers.count; n++)
    vec_push(heap, &filling.grouping.numbers, work->templates.numbers.data[n]);
  return filling;
}

static Program *fill_program(JacobianBuild *work, const Jacobian *jacobian) {
  Heap *heap = work->heap;
  Filling filling = filling_make(work, jacobian);
  for (uint32_t t = 0; t < work->templates.list.count; t++) make_group(&filling, t);
  for (uint32_t r = 0; r < work->row_count; r++)
    if (runs_as_template(work, r)) fill_instance(&filling, r);
    else fill_straight(&filling, r);
  grouping_add_roots(&filling.grouping, filling.roots.data, filling.roots.count, filling.places.data);
  Program *program = program_from_grouping(&filling.grouping, jacobian->nonzeros);
  program->roots = heap_copy(heap, work->rows, work->row_count, sizeof *program->roots);
  program->entries = jacobian;
  heap_free_all(heap, filling.next, filling.group_of, filling.used);
  vec_free(heap, &filling.roots, &filling.places);
  return program;
}

/* Row numbers of the entries and whether they are constant, in the order of fill_program. */
static void fill_pattern(JacobianBuild *work, Jacobian *jacobian) {
  uint32_t *next = heap_array(work->heap, jacobian->columns, sizeof *next);
  for (uint32_t c = 0; c < jacobian->columns; c++) next[c] = (uint32_t)jacobian->column_start[c];
  for (uint32_t r = 0; r < work->row_count; r++) {
    PartialRange gradient = gradient_of(work, r);
    for (uint32_t p = gradient.first; p < gradient.first + gradient.count; p++) {
      uint32_t entry = next[row_column(work, r, p)]++;
      jacobian->row_index[entry] = (int32_t)r;
      jacobian->is_constant[entry] = is_constant_entry(work->dag, work->partials.data[p]);
    }
  }
  heap_free(work->heap, next);
}

Jacobian *jacobian_new(Heap *heap, Model *model, const Layout *layout, const Expr *rows, uint32_t count,
                       const uint32_t *positions, uint32_t position_count) {
  Jacobian *jacobian = heap_alloc(heap, sizeof *jacobian);
  jacobian->rows = count;
  jacobian->columns = positions ? position_count : layout->columns;
  jacobian->positions = heap_array(heap, jacobian->columns, sizeof *jacobian->positions);
  for (uint32_t c = 0; c < jacobian->columns; c++) jacobian->positions[c] = positions ? positions[c] : c;
  JacobianBuild work = differentiation_make(heap, model, layout, rows, count, jacobian->positions, jacobian->columns);
  make_pattern(&work, jacobian);
  fill_pattern(&work, jacobian);
  jacobian->program = fill_program(&work, jacobian);
  differentiation_free(&work);
  return jacobian;
}
