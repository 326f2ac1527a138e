/* text: variables of type String whose equations give them a known text. The text replaces the variable wherever it is used,
 * because equations contain only numbers and could not compare it.
 *
 * Invariant: the equation that gives a variable its text stays as it is. */
#include "lang/elaborate.h"

typedef struct Texts {
  Elaboration *el;
  ExprVec leaves, values; /* variables and their texts */
  Map known;              /* leaf -> its index in `leaves` */
  IndexVec open;          /* equations between texts that have given no text so far */
  VEC(bool) defines;      /* equation number i gives a text */
} Texts;

/* The place where an expression occurs. */
typedef struct Occurrence {
  Expr *e;
  Span span;
} Occurrence;
typedef VEC(Occurrence) PlaceVec;

/* If one side of the equation is a variable and the other a text, returns both. */
static bool read_text(const Elaboration *el, const RawEquation *equation, Expr *leaf, Expr *value) {
  bool is_left = dag_op(el->dag, equation->left) == OP_DISCRETE;
  *leaf = is_left ? equation->left : equation->right;
  *value = is_left ? equation->right : equation->left;
  return dag_op(el->dag, *leaf) == OP_DISCRETE && dag_op(el->dag, *value) == OP_STRING;
}

static void substitute(Texts *texts, Expr *roots, uint32_t count) {
  dag_substitute(texts->el->dag, texts->leaves.data, texts->values.data, texts->leaves.count, roots, count);
}

/* Goes through the open equations once; true if one gave a text. */
static bool find_texts(Texts *texts) {
  Elaboration *el = texts->el;
  uint32_t kept = 0, before = texts->leaves.count;
  for (uint32_t i = 0; i < texts->open.count; i++) {
    uint32_t number = texts->open.data[i];
    RawEquation *equation = &el->equations->data[number];
    Expr sides[2] = {equation->left, equation->right}, leaf, value;
    if (texts->leaves.count) substitute(texts, sides, 2);
    RawEquation now = {.left = sides[0], .right = sides[1]};
    if (!read_text(el, &now, &leaf, &value) || map_get(&texts->known, leaf) != MAP_NONE) {
      texts->open.data[kept++] = number;
      continue;
    }
    equation->left = leaf;
    equation->right = value;
    texts->defines.data[number] = true;
    map_put(&texts->known, leaf, texts->leaves.count);
    vec_push(el->heap, &texts->leaves, leaf);
    vec_push(el->heap, &texts->values, value);
  }
  texts->open.count = kept;
  return texts->leaves.count > before;
}

/* ---- where texts are used ---- */

static void add_place(Texts *texts, PlaceVec *places, Expr *e, Span span) {
  if (*e != EXPR_NONE) vec_push(texts->el->heap, places, (Occurrence){e, span});
}

static void add_actions(Texts *texts, PlaceVec *places, Action *actions, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    add_place(texts, places, &actions[i].guard, actions[i].span);
    add_place(texts, places, &actions[i].value, actions[i].span);
    add_place(texts, places, &actions[i].message, actions[i].span);
  }
}

static void add_whens(Texts *texts, PlaceVec *places) {
  Model *model = texts->el->model;
  for (uint32_t i = 0; i < model->whens.count; i++)
    for (uint32_t k = 0; k < model->whens.data[i].branches.count; k++) {
      WhenBranch *branch = &model->whens.data[i].branches.data[k];
      for (uint32_t c = 0; c < branch->conditions.count; c++)
        add_place(texts, places, &branch->conditions.data[c], model->whens.data[i].span);
      add_actions(texts, places, branch->actions.data, branch->actions.count);
    }
}

static void replace_all(Texts *texts, PlaceVec *places) {
  Elaboration *el = texts->el;
  ExprVec roots = {0};
  for (uint32_t i = 0; i < places->count; i++) vec_push(el->heap, &roots, *places->data[i].e);
  substitute(texts, roots.data, roots.count);
  for (uint32_t i = 0; i < places->count; i++) *places->data[i].e = roots.data[i];
  vec_free(el->heap, &roots);
}

static PlaceVec find_places(Texts *texts) {
  Elaboration *el = texts->el;
  PlaceVec places = {0};
  for (uint32_t i = 0; i < el->equations->count; i++) {
    RawEquation *equation = &el->equations->data[i];
    if (texts->defines.data[i]) continue;
    add_place(texts, &places, &equation->left, equation->span);
    add_place(texts, &places, &equation->right, equation->span);
  }
  add_actions(texts, &places, el->actions->data, el->actions->count);
  add_whens(texts, &places);
  return places;
}

/* ---- texts that are not known ---- */

bool expr_is_text(const Elaboration *el, Expr e) {
  while (dag_op(el->dag, e) == OP_IF) e = dag_child(el->dag, e, 1);
  Op op = dag_op(el->dag, e);
  uint32_t variable = variable_of_leaf(el, e);
  return op == OP_STRING || op == OP_STRING_OF || op == OP_STRING_JOIN ||
         (variable != NONE && el->model->variables.data[variable].type == TYPE_STRING);
}

/* Is it a call of an undefined function? Other messages report such functions. */
static bool is_missing(const Elaboration *el, Expr e) {
  return dag_op(el->dag, e) == OP_CALL &&
         !routine_can_run(el->model->functions.data[dag_call_info(el->dag, e).function]->routine);
}

static bool compares_texts(const Elaboration *el, Expr relation) {
  Expr a = dag_child(el->dag, relation, 0), b = dag_child(el->dag, relation, 1);
  return (expr_is_text(el, a) || expr_is_text(el, b)) && !is_missing(el, a) && !is_missing(el, b);
}

/* A comparison of texts below the expressions; EXPR_NONE if there is none. */
static Expr comparison_below(const Elaboration *el, DagScratch *scratch, const Expr *roots, uint32_t count) {
  IndexVec order = {0};
  Expr found = EXPR_NONE;
  dag_below(el->dag, scratch, roots, count, &order);
  for (uint32_t i = 0; i < order.count && found == EXPR_NONE; i++) {
    Expr e = order.data[i];
    if (op_kind(dag_op(el->dag, e)) == KIND_RELATION && compares_texts(el, e)) found = e;
  }
  vec_free(scratch->heap, &order);
  return found;
}

/* The remaining comparisons would be made during simulation, where texts have no values. */
static void refuse_comparisons(Elaboration *el, const PlaceVec *places) {
  DagScratch scratch = dag_scratch_make(el->heap);
  ExprVec roots = {0};
  for (uint32_t i = 0; i < places->count; i++) vec_push(el->heap, &roots, *places->data[i].e);
  Expr found = comparison_below(el, &scratch, roots.data, roots.count);
  for (uint32_t i = 0; i < places->count && found != EXPR_NONE; i++) {
    if (comparison_below(el, &scratch, &roots.data[i], 1) == EXPR_NONE) continue;
    diag_error(el->diags, DIAG_INPUT, places->data[i].span,
               "texts that change while the model runs cannot be compared: %s",
               model_text(el->model, found, &el->diags->arena));
    break;
  }
  vec_free(el->heap, &roots);
  dag_scratch_free(&scratch);
}

void texts_replace(Elaboration *el) {
  Texts texts = {.el = el, .known = map_make(el->heap)};
  for (uint32_t i = 0; i < el->equations->count; i++) {
    vec_push(el->heap, &texts.defines, false);
    if (el->equations->data[i].base == TYPE_STRING) vec_push(el->heap, &texts.open, i);
  }
  while (find_texts(&texts)) continue;
  PlaceVec places = {0};
  if (texts.leaves.count || el->compares_texts) places = find_places(&texts);
  if (texts.leaves.count) replace_all(&texts, &places);
  if (el->compares_texts) refuse_comparisons(el, &places);
  map_free(&texts.known);
  vec_free(el->heap, &places);
  vec_free(el->heap, &texts.leaves, &texts.values, &texts.open, &texts.defines);
}
