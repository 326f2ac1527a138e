/* form: see form.h. Abbreviations are put in first. Then offsets do the work: with c and d of a part alone,
 * x_i of (12), (13) are the differential variables with d = i, x_r the algebraic ones with d = 0 that a
 * differential equation determines, x_i' = ... the differential equations with c = i - 1, f_r = 0 those with
 * c = r - 1; which variables may occur where then follows from d - c >= order. What is left to check is that
 * every level has as many equations as variables, and linearity. */
#include "init/form.h"

#include "init/degree.h"

#include <string.h>

enum { MOST_LEVELS = 31, MOST_ABBREVIATIONS = 5000 };

typedef struct Search {
  Heap *heap;
  Model *model;
  Arena arena;
  ExprVec residual;  /* of the equations that are left */
  IndexVec equation; /* of the model, per equation left */
  IndexVec unknown;  /* of the model, per unknown left */
  uint32_t *local;   /* per unknown of the model; MAP_NONE if put in */
  Incidence incidence;
  Structure whole;
  bool *differential; /* per unknown: its derivative occurs */
  int32_t *group;     /* per coarse block: representative (union-find) */
  int32_t *place;     /* per unknown: within the part at hand, -1 outside */
  Degrees *degrees;
  Degree *known; /* per unknown */
} Search;

/* ---- abbreviations ---- */

/* Unknowns whose derivative occurs in an equation. */
static bool *mark_differentiated(Search *search, ExprVec *leaves) {
  Model *model = search->model;
  bool *differentiated = arena_array(&search->arena, model->unknowns.count, sizeof *differentiated);
  for (uint32_t i = 0; i < model->equations.count; i++) {
    leaves->count = 0;
    dag_variables(model->dag, dag_scratch(model->dag), model->equations.data[i].residual, leaves);
    for (uint32_t k = 0; k < leaves->count; k++)
      if (dag_order(model->dag, leaves->data[k])) differentiated[dag_index(model->dag, leaves->data[k])] = true;
  }
  return differentiated;
}

/* z = expression without z, as written. */
static Expr defined_leaf(Search *search, const Equation *equation, const bool *taken, ExprVec *leaves) {
  Dag *dag = search->model->dag;
  Expr side[2] = {equation->left, equation->right};
  for (int k = 0; k < 2; k++) {
    if (dag_op(dag, side[k]) != OP_VARIABLE || taken[dag_index(dag, side[k])]) continue;
    bool inside = false;
    leaves->count = 0;
    dag_variables(dag, dag_scratch(dag), side[1 - k], leaves);
    for (uint32_t q = 0; q < leaves->count; q++)
      inside |= leaves->data[q] == side[k] || dag_order(dag, leaves->data[q]) > 0;
    if (!inside) return side[k];
  }
  return EXPR_NONE;
}

/* An abbreviation: its leaf, what it stands for, the equation that says so. */
typedef struct Abbreviation {
  Expr leaf, value;
  uint32_t equation, waits; /* waits: for how many others */
} Abbreviation;
typedef VEC(Abbreviation) AbbreviationVec;

/* Equations z = expression, but for those that cannot be what determines z because another equation must:
 * then they are not in one block of the structure. by[u]: 1 + the abbreviation of unknown u. */
static void list_abbreviations(Search *search, const Structure *written, AbbreviationVec *list, uint32_t *by) {
  Model *model = search->model;
  Dag *dag = model->dag;
  ExprVec leaves = {0};
  bool *taken = mark_differentiated(search, &leaves);
  for (uint32_t i = 0; i < model->equations.count && list->count < MOST_ABBREVIATIONS; i++) {
    const Equation *equation = &model->equations.data[i];
    Expr leaf = defined_leaf(search, equation, taken, &leaves);
    if (leaf == EXPR_NONE) continue;
    uint32_t unknown = dag_index(dag, leaf);
    if (written->blocks.block_of_row[i] != written->blocks.block_of_column[unknown]) continue;
    taken[unknown] = true;
    vec_push(search->heap, list, (Abbreviation){leaf, leaf == equation->left ? equation->right : equation->left, i, 0});
    by[unknown] = list->count;
  }
  vec_free(search->heap, &leaves);
}

/* Puts the abbreviations in that e contains. */
static Expr put_in(Search *search, Expr e, const AbbreviationVec *list, const uint32_t *by, ExprVec *work) {
  Dag *dag = search->model->dag;
  work->count = 0;
  dag_variables(dag, dag_scratch(dag), e, work);
  uint32_t pairs = 0;
  for (uint32_t k = 0, n = work->count; k < n; k++)
    if (by[dag_index(dag, work->data[k])]) work->data[pairs++] = work->data[k];
  work->count = pairs;
  for (uint32_t k = 0; k < pairs; k++)
    vec_push(search->heap, work, list->data[by[dag_index(dag, work->data[k])] - 1].value);
  if (pairs) dag_substitute(dag, work->data, work->data + pairs, pairs, &e, 1);
  return e;
}

/* Expands the abbreviations, each after those it uses; what uses itself in a circle stays an equation. */
static void expand_abbreviations(Search *search, AbbreviationVec *list, uint32_t *by, ExprVec *work) {
  Dag *dag = search->model->dag;
  Heap *heap = search->heap;
  typedef struct Use {
    uint32_t user, next;
  } Use;
  VEC(Use) uses = {0};
  uint32_t *first = heap_array(heap, list->count, sizeof *first);
  IndexVec ready = {0};
  for (uint32_t a = 0; a < list->count; a++) {
    work->count = 0;
    dag_variables(dag, dag_scratch(dag), list->data[a].value, work);
    for (uint32_t k = 0; k < work->count; k++) {
      uint32_t used = by[dag_index(dag, work->data[k])];
      if (!used) continue;
      vec_push(heap, &uses, (Use){a, first[used - 1]});
      first[used - 1] = uses.count;
      list->data[a].waits++;
    }
    if (!list->data[a].waits) vec_push(heap, &ready, a);
  }
  for (uint32_t r = 0; r < ready.count; r++) {
    uint32_t a = ready.data[r];
    list->data[a].value = put_in(search, list->data[a].value, list, by, work);
    for (uint32_t u = first[a]; u; u = uses.data[u - 1].next)
      if (!--list->data[uses.data[u - 1].user].waits) vec_push(heap, &ready, uses.data[u - 1].user);
  }
  for (uint32_t a = 0; a < list->count; a++)
    if (list->data[a].waits) by[dag_index(dag, list->data[a].leaf)] = 0;
  heap_free(heap, first);
  vec_free(heap, &uses);
  vec_free(heap, &ready);
}

static void put_abbreviations(Search *search, const Structure *written) {
  Model *model = search->model;
  AbbreviationVec list = {0};
  ExprVec work = {0};
  uint32_t *by = arena_array(&search->arena, model->unknowns.count, sizeof *by);
  bool *spent = arena_array(&search->arena, model->equations.count, sizeof *spent);
  list_abbreviations(search, written, &list, by);
  expand_abbreviations(search, &list, by, &work);
  for (uint32_t a = 0; a < list.count; a++)
    spent[list.data[a].equation] = by[dag_index(model->dag, list.data[a].leaf)] != 0;
  for (uint32_t i = 0; i < model->equations.count; i++) {
    if (spent[i]) continue;
    vec_push(search->heap, &search->residual, put_in(search, model->equations.data[i].residual, &list, by, &work));
    vec_push(search->heap, &search->equation, i);
  }
  search->local = arena_array(&search->arena, model->unknowns.count, sizeof *search->local);
  for (uint32_t u = 0; u < model->unknowns.count; u++) {
    search->local[u] = by[u] ? MAP_NONE : search->unknown.count;
    if (!by[u]) vec_push(search->heap, &search->unknown, u);
  }
  vec_free(search->heap, &list);
  vec_free(search->heap, &work);
}

/* Highest derivatives per equation and unknown. */
static void fill_incidence(Search *search) {
  Dag *dag = search->model->dag;
  int32_t n = (int32_t)search->residual.count;
  int32_t *start = index_zeros(&search->arena, n + 1),
          *last = index_nones(&search->arena, (int32_t)search->unknown.count);
  ExprVec leaves = {0};
  IntVec column = {0}, order = {0};
  for (int32_t i = 0; i < n; i++) {
    leaves.count = 0;
    dag_variables(dag, dag_scratch(dag), search->residual.data[i], &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      int32_t j = (int32_t)search->local[dag_index(dag, leaves.data[k])],
              high = (int32_t)dag_order(dag, leaves.data[k]);
      if (last[j] < start[i]) {
        last[j] = (int32_t)column.count;
        vec_push(search->heap, &column, j);
        vec_push(search->heap, &order, high);
      } else if (order.data[last[j]] < high) {
        order.data[last[j]] = high;
      }
    }
    start[i + 1] = (int32_t)column.count;
  }
  int32_t *columns = index_zeros(&search->arena, (int32_t)column.count),
          *orders = index_zeros(&search->arena, (int32_t)column.count);
  for (uint32_t e = 0; e < column.count; e++) columns[e] = column.data[e], orders[e] = order.data[e];
  search->incidence = (Incidence){n, (int32_t)search->unknown.count, start, columns, orders};
  vec_free(search->heap, &leaves);
  vec_free(search->heap, &column);
  vec_free(search->heap, &order);
}

/* ---- parts ---- */

static int32_t find_group(Search *search, int32_t b) {
  while (search->group[b] != b) b = search->group[b] = search->group[search->group[b]];
  return b;
}

/* Coarse blocks tied by derivatives belong together: x' = ... with the constraint that determines x. */
static void tie_blocks(Search *search) {
  const Incidence *incidence = &search->incidence;
  const Blocks *coarse = &search->whole.coarse;
  for (int32_t b = 0; b < coarse->n_blocks; b++) search->group[b] = b;
  for (int32_t i = 0; i < incidence->n_equations; i++) {
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      if (!incidence->order[e]) continue;
      search->differential[incidence->column[e]] = true;
      int32_t a = find_group(search, coarse->block_of_row[i]),
              b = find_group(search, coarse->block_of_column[incidence->column[e]]);
      if (a < b) search->group[b] = a;
      else search->group[a] = b;
    }
  }
}

/* One part: its equations and unknowns, with the incidence between them. */
typedef struct Part {
  int32_t n;
  const int32_t *equation, *unknown;
  Incidence incidence;
  Structure structure;
} Part;

static void take_incidence(Search *search, Part *part, Arena *arena) {
  const Incidence *all = &search->incidence;
  int32_t *start = arena_array(arena, (size_t)part->n + 1, sizeof *start), size = 0;
  for (int32_t p = 0; p < part->n; p++)
    size += all->row_start[part->equation[p] + 1] - all->row_start[part->equation[p]];
  int32_t *column = arena_array(arena, (size_t)size, sizeof *column),
          *order = arena_array(arena, (size_t)size, sizeof *order), next = 0;
  for (int32_t p = 0; p < part->n; p++) {
    for (int32_t e = all->row_start[part->equation[p]]; e < all->row_start[part->equation[p] + 1]; e++) {
      if (search->place[all->column[e]] < 0) continue;
      column[next] = search->place[all->column[e]];
      order[next++] = all->order[e];
    }
    start[p + 1] = next;
  }
  part->incidence = (Incidence){part->n, part->n, start, column, order};
}

/* ---- levels and linearity ---- */

static bool is_differential_equation(const Part *part, int32_t p) {
  for (int32_t e = part->incidence.row_start[p]; e < part->incidence.row_start[p + 1]; e++)
    if (part->incidence.order[e]) return true;
  return false;
}

/* The variable that an equation determines in the part. */
static int32_t partner(const Part *part, int32_t p) { return part->structure.matching.column_of_row[p]; }

typedef struct Leaves {
  const Search *search;
  const Part *part;
} Leaves;

/* Classes of a leaf: the level of a differential variable, 0 for multipliers; abbreviations as computed;
 * derivatives are what the equation is for. */
static Degree leaf_classes(void *context, Expr leaf) {
  const Leaves *leaves = context;
  const Search *search = leaves->search;
  uint32_t j = search->local[dag_index(search->model->dag, leaf)];
  if (search->place[j] < 0 || dag_order(search->model->dag, leaf) > 0) return (Degree){0};
  return search->known[j];
}

/* Degrees of the variables of a block of algebraic equations: what the equations contain, and linear in the
 * classes of its level if the equations are so in these and the block's variables together. */
static void block_degrees(Search *search, const Part *part, const int32_t *rows, int32_t count) {
  Leaves leaves = {search, part};
  uint32_t contained = 0, beyond = 0, level = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t k = 0; k < count; k++) {
      int32_t q = partner(part, rows[k]);
      level |= 1u << part->structure.d[q];
      search->known[part->unknown[q]] = (Degree){pass ? 1u << part->structure.d[q] : 0, 0};
    }
    for (int32_t k = 0; k < count; k++) {
      Degree degree;
      degrees_run(search->degrees, &search->residual.data[part->equation[rows[k]]], 1, leaf_classes, &leaves, &degree);
      if (pass) beyond |= degree.beyond;
      else contained |= degree.linear | degree.beyond;
    }
  }
  Degree found = {contained & level & ~beyond, 0};
  found.beyond = contained & ~found.linear;
  for (int32_t k = 0; k < count; k++) search->known[part->unknown[partner(part, rows[k])]] = found;
}

/* Sees through the algebraic equations that determine algebraic variables, block after block. Returns how
 * many there are, and how many of them at the level of the constraints. */
static uint32_t see_through(Search *search, const Part *part, int32_t order, uint32_t *coupled, Arena *arena) {
  int32_t *row = index_zeros(arena, part->n), *index = index_nones(arena, part->n), n = 0, next = 0;
  for (int32_t p = 0; p < part->n; p++)
    if (!search->differential[part->unknown[partner(part, p)]] && !is_differential_equation(part, p))
      index[p] = n, row[n++] = p;
  int32_t *start = index_zeros(arena, n + 1);
  for (int32_t k = 0; k < n; k++)
    start[k + 1] = start[k] + part->incidence.row_start[row[k] + 1] - part->incidence.row_start[row[k]];
  int32_t *column = index_zeros(arena, start[n]);
  *coupled = 0;
  for (int32_t k = 0; k < n; k++) {
    *coupled += part->structure.d[partner(part, row[k])] == order - 1;
    for (int32_t e = part->incidence.row_start[row[k]]; e < part->incidence.row_start[row[k] + 1]; e++) {
      int32_t by = index[part->structure.matching.row_of_column[part->incidence.column[e]]];
      column[next++] = by < 0 ? k : by;
    }
  }
  Matching diagonal = matching_empty(arena, n, n);
  for (int32_t k = 0; k < n; k++) diagonal.column_of_row[k] = diagonal.row_of_column[k] = k;
  diagonal.size = n;
  Pattern pattern = {n, n, start, column};
  Blocks blocks = blocks_find(arena, &pattern, &diagonal);
  for (int32_t k = 0; k < n; k++) blocks.row[k] = row[blocks.row[k]];
  for (int32_t b = 0; b < blocks.n_blocks; b++)
    block_degrees(search, part, blocks.row + blocks.start[b], blocks.start[b + 1] - blocks.start[b]);
  return (uint32_t)n;
}

/* Level by level as many differential equations as variables, and no derivative but the highest in each. */
static bool levels_fit(const Search *search, const Part *part, int32_t order, FormPart *found) {
  int32_t balance[MOST_LEVELS + 1] = {0};
  for (int32_t p = 0; p < part->n; p++) {
    int32_t c = part->structure.c[p], d = part->structure.d[p];
    if (search->differential[part->unknown[p]]) {
      if (d < 1 || d > order - 1) return false;
      balance[d]--;
    }
    if (is_differential_equation(part, p)) {
      balance[c + 1]++;
      for (int32_t e = part->incidence.row_start[p]; e < part->incidence.row_start[p + 1]; e++)
        if (part->incidence.order[e] && part->structure.d[part->incidence.column[e]] != c + part->incidence.order[e])
          return false;
    } else if (search->differential[part->unknown[partner(part, p)]]) {
      found->constraints++;
      if (c != order - 1) return false;
    }
    if (!search->differential[part->unknown[partner(part, p)]] && is_differential_equation(part, p)) {
      found->multipliers++;
      if (part->structure.d[partner(part, p)] != 0) return false;
    }
  }
  for (int32_t k = 1; k < order; k++)
    if (balance[k]) return false;
  return balance[order] == 0;
}

/* x_i' = ... must be linear in x_{i-1}, and x_1' = ... in the multipliers. Bit k: not so at level k. */
static uint32_t find_nonlinear(Search *search, const Part *part) {
  uint32_t nonlinear = 0;
  Leaves leaves = {search, part};
  for (int32_t p = 0; p < part->n; p++) {
    if (!is_differential_equation(part, p)) continue;
    Degree degree;
    degrees_run(search->degrees, &search->residual.data[part->equation[p]], 1, leaf_classes, &leaves, &degree);
    nonlinear |= degree.beyond & (1u << part->structure.c[p]);
  }
  return nonlinear;
}

static FormPart judge(Search *search, const Part *part, Arena *arena) {
  int32_t most = 0;
  for (int32_t p = 0; p < part->n; p++)
    if (part->structure.c[p] > most) most = part->structure.c[p];
  FormPart found = {.kind = FORM_INDEX_1,
                    .order = most + 1,
                    .equations = (uint32_t)part->n,
                    .first = search->equation.data[part->equation[0]]};
  if (!most) return found;
  found.kind = FORM_NONE;
  if (found.order > MOST_LEVELS || !levels_fit(search, part, found.order, &found)) return found;
  for (int32_t p = 0; p < part->n; p++) {
    bool multiplier = !search->differential[part->unknown[p]];
    search->known[part->unknown[p]] = (Degree){1u << (multiplier ? 0 : part->structure.d[p]), 0};
  }
  uint32_t implicit = see_through(search, part, found.order, &found.coupled, arena);
  uint32_t nonlinear = find_nonlinear(search, part);
  if (nonlinear & ~1u) return found;
  if (nonlinear) found.kind = FORM_CONTACT_NONLINEAR;
  else if (found.coupled) found.kind = FORM_HESSENBERG_INDEX_1;
  else if (found.order == 2 && implicit) found.kind = FORM_INDEX_2_RESTRICTED;
  else found.kind = FORM_HESSENBERG;
  return found;
}

/* ---- the whole ---- */

static void list_unknowns(const Search *search, const Part *part, FormPart *found) {
  for (int32_t p = 0; p < part->n; p++) {
    int32_t own = part->unknown[p], determined = part->unknown[partner(part, p)];
    vec_push(search->heap, &found->unknowns, search->unknown.data[own]);
    if (!search->differential[determined] && is_differential_equation(part, p))
      vec_push(search->heap, &found->highest, search->unknown.data[determined]);
  }
}

static FormPart look_at(Search *search, const int32_t *blocks, int32_t count) {
  Arena scratch = arena_make(search->heap);
  const Blocks *coarse = &search->whole.coarse;
  int32_t n = 0;
  for (int32_t k = 0; k < count; k++) n += coarse->start[blocks[k] + 1] - coarse->start[blocks[k]];
  int32_t *equation = index_zeros(&scratch, n), *unknown = index_zeros(&scratch, n);
  Part part = {.equation = equation, .unknown = unknown};
  for (int32_t k = 0; k < count; k++) {
    for (int32_t p = coarse->start[blocks[k]]; p < coarse->start[blocks[k] + 1]; p++, part.n++) {
      equation[part.n] = coarse->row[p];
      unknown[part.n] = coarse->column[p];
      search->place[coarse->column[p]] = part.n;
    }
  }
  take_incidence(search, &part, &scratch);
  part.structure = structure_run(&scratch, &part.incidence);
  FormPart found = {.kind = FORM_NONE};
  if (part.structure.status == STRUCTURE_OK) {
    found = judge(search, &part, &scratch);
    list_unknowns(search, &part, &found);
  }
  for (int32_t p = 0; p < n; p++) search->place[unknown[p]] = -1;
  arena_free(&scratch);
  return found;
}

/* A model of index 2 is one part of form (2), whatever it falls into. */
static bool look_at_whole(Search *search, InitialForm *form) {
  if (search->whole.structural_index != 2) return false;
  int32_t blocks = search->whole.coarse.n_blocks, *all = index_zeros(&search->arena, blocks);
  for (int32_t b = 0; b < blocks; b++) all[b] = b;
  FormPart part = look_at(search, all, blocks);
  if (part.kind != FORM_INDEX_2_RESTRICTED && part.kind != FORM_HESSENBERG) return false;
  vec_push(search->heap, &form->parts, part);
  return true;
}

/* The parts in the order of their last block: everything a part uses from others comes before. */
static void visit_parts(Search *search, InitialForm *form) {
  int32_t blocks = search->whole.coarse.n_blocks;
  int32_t *start = index_zeros(&search->arena, blocks + 1), *member = index_zeros(&search->arena, blocks);
  for (int32_t b = 0; b < blocks; b++) start[find_group(search, b) + 1]++;
  for (int32_t b = 0; b < blocks; b++) start[b + 1] += start[b];
  int32_t *fill = index_zeros(&search->arena, blocks);
  for (int32_t b = 0; b < blocks; b++) {
    int32_t g = find_group(search, b);
    member[start[g] + fill[g]++] = b;
  }
  for (int32_t b = 0; b < blocks; b++) {
    int32_t g = find_group(search, b);
    if (member[start[g + 1] - 1] != b) continue;
    FormPart part = look_at(search, member + start[g], start[g + 1] - start[g]);
    if (part.kind != FORM_INDEX_1) vec_push(search->heap, &form->parts, part);
  }
}

static void look_closer(Search *search, const Structure *written, InitialForm *form) {
  put_abbreviations(search, written);
  fill_incidence(search);
  search->whole = structure_run(&search->arena, &search->incidence);
  if (search->whole.status == STRUCTURE_OK) {
    uint32_t n = search->unknown.count;
    search->differential = arena_array(&search->arena, n, sizeof(bool));
    search->known = arena_array(&search->arena, n, sizeof(Degree));
    search->place = index_nones(&search->arena, (int32_t)n);
    search->group = index_zeros(&search->arena, search->whole.coarse.n_blocks);
    search->degrees = degrees_new(search->heap, search->model->dag);
    tie_blocks(search);
    if (!look_at_whole(search, form)) visit_parts(search, form);
  }
  vec_free(search->heap, &search->residual);
  vec_free(search->heap, &search->equation);
  vec_free(search->heap, &search->unknown);
}

InitialForm form_find(Model *model, Heap *heap) {
  InitialForm form = {0};
  Search search = {.heap = heap, .model = model, .arena = arena_make(heap)};
  Problem written = problem_make(model, false, &search.arena);
  Structure structure = structure_run(&search.arena, &written.incidence);
  if (structure.status == STRUCTURE_OK && structure.differentiations > 0) look_closer(&search, &structure, &form);
  arena_free(&search.arena);
  return form;
}

const char *form_part_text(const FormPart *part, Arena *arena) {
  switch (part->kind) {
  case FORM_INDEX_1: return "no hidden constraints";
  case FORM_INDEX_2_RESTRICTED: return "index 2 with restricted nonlinearity (Theorem 2.1)";
  case FORM_HESSENBERG:
    return arena_printf(arena, "Hessenberg form of order %d with restricted nonlinearity (Theorem 4.3)", part->order);
  case FORM_HESSENBERG_INDEX_1:
    return arena_printf(arena, "Hessenberg form of order %d with %u coupled index-1 constraints (section 6)",
                        part->order, part->coupled);
  case FORM_CONTACT_NONLINEAR:
    return arena_printf(arena,
                        "Hessenberg form of order %d with %u coupled index-1 constraints, %u multipliers "
                        "entering nonlinearly "
                        "(section 6, generalized Grübler condition)",
                        part->order, part->coupled, part->multipliers);
  case FORM_NONE: break;
  }
  return arena_printf(arena, "no special form, index %d", part->order);
}

const char *form_text(const InitialForm *form, Arena *arena) {
  if (!form->parts.count) return "no hidden constraints";
  if (form->parts.count == 1) return form_part_text(&form->parts.data[0], arena);
  const char *orders = "";
  bool chain = true;
  for (uint32_t k = 0; k < form->parts.count; k++) {
    chain &= form->parts.data[k].kind != FORM_NONE;
    if (k < 8) orders = arena_printf(arena, "%s%s%d", orders, k ? ", " : "", form->parts.data[k].order);
  }
  return arena_printf(arena, "%s of %u parts, orders %s%s%s", chain ? "Hessenberg triangular chain" : "chain",
                      form->parts.count, orders, form->parts.count > 8 ? ", ..." : "", chain ? " (section 5)" : "");
}
