/* lookup: what the files of src/instance share about names, errors and the making of instances. */
#pragma once

#include "instance/instance.h"
#include "lang/lang.h"

/* A protected element, or inherited by a protected extends. */
static inline bool element_is_protected(const Instance *instance, const Element *element) {
  return element->ast->prefixes & PREFIX_PROTECTED || instance->parts.data[element->part].is_protected;
}

/* ---- errors ---- */

/* An error in the input; a note names the instance in which it was found, if it is not the model itself. It is kept in
 * tree->last for further notes. */
__attribute__((format(printf, 4, 5))) void tree_error(Tree *tree, Span span, const Instance *instance,
                                                      const char *format, ...);
/* The same with a code of its own. */
__attribute__((format(printf, 5, 6))) void tree_refuse(Tree *tree, DiagCode code, Span span, const Instance *instance,
                                                       const char *format, ...);
/* What the language forbids, but its meaning is plain and other tools accept it: a warning, once for a place; with
 * --strict an error. True if the model may be read on. */
__attribute__((format(printf, 5, 6))) bool tree_tolerate(Tree *tree, DiagCode code, Span span, const Instance *instance,
                                                         const char *format, ...);

/* Is there an error or warning at this place? */
bool is_reported(const Tree *tree, Span span);

/* ---- tree.c ---- */

/* Makes the root and the base types. */
void tree_start(Tree *tree);
Instance *class_instance(Tree *tree, Instance *parent, const AstElement *element, const AstClass *definition,
                         Scope around, Modifiers modifiers);
/* The instance that stands for the model. */
Instance *model_instance(Tree *tree, Instance *type);
/* Instance of element number `number`, made on first use; NULL after an error. */
Instance *element_instance(Tree *tree, Instance *owner, uint32_t number);

/* Declares what an outer component needs in the model itself, with a warning; NULL after an error. */
Instance *add_missing_inner(Tree *tree, Instance *outer);

/* Part `part` of the instance, or a class that it inherits, is a package. Finds a class in a separate file beside that package; it
 * becomes an element, whose number is returned. MAP_NONE: there is none. */
uint32_t library_element(Tree *tree, Instance *instance, uint32_t part, Name name);

/* Adds a component to an expandable connector: of the class of `like`, without its values and with these sizes. */
Instance *instance_add(Tree *tree, Instance *owner, Name name, const Instance *like, const uint32_t *sizes,
                       uint32_t count);

/* A declaration of an element, in place of those after it. */
typedef struct Redeclaration {
  Declaration declaration;
  bool is_each;
  bool is_modifier;   /* it stands in a modification, not among the elements of a class */
  bool is_constraint; /* that modification is of a constraining clause */
} Redeclaration;

typedef VEC(Redeclaration) RedeclarationVec;

/* All declarations of an element, the one that counts first: from the outermost class or modification on to its own. */
void element_declarations(Tree *tree, Instance *owner, const Element *element, RedeclarationVec *list);

/* ---- lookup.c ---- */

/* A class at the root: of the files, a library, or built in. NULL if there is none. */
Instance *root_find(Tree *tree, Name name);
/* The class that an extends clause in part `scope` names: elements inherited by that part are ignored. */
Instance *scope_find_base(Tree *tree, Scope scope, AstPath path);
/* Like scope_find_class without a report. */
Instance *scope_try_class(Tree *tree, Scope scope, AstPath path);

/* Refuses element `name` of `in` for a composite name: it is protected, `in` is partial, or `in` is not a package and the element
 * not encapsulated. true if there is no such element. */
bool check_access(Tree *tree, Scope scope, const Instance *in, Name name, Span span);

/* The inner component that an outer one means; NULL if there is none so far. */
Instance *find_inner(Tree *tree, Instance *outer);
/* What an outer component means; the component itself if it is none. NULL after an error. */
Instance *instance_inner(Tree *tree, Instance *instance);

/* The inner element of that name around the owner, a class or a component as `like` is (NULL: either); NULL if there is none. */
Instance *find_inner_element(Tree *tree, Instance *owner, Name name, const AstElement *like);
const char *restriction_text(AstClassKind restriction);

/* ---- binding.c ---- */

/* The modifier that gives the value; NULL if there is none. */
const Modifier *instance_binding(const Instance *instance);
/* The value of a record is given as a whole, by an equation; of a variable: that of a record around it. */
bool binding_is_whole(Tree *tree, Instance *instance);

/* ---- check.c ---- */

/* Two elements of one name that may stand for one: the same type and the same text otherwise. */
bool elements_equal(Tree *tree, Instance *instance, const Element *a, const Element *b);
/* Refuses modifiers of elements that do not exist, of protected elements of a component, and of final attributes. */
void check_modifiers(Tree *tree, Instance *instance);
/* Refuses a modifier of an element from outside of what makes it final. The outermost modifier is the first. */
/* The connection is left out: a class that extends this part breaks it, or a component that it connects (section 7.4). */
bool is_deselected(const Tree *tree, Scope scope, const AstStatement *statement);
void check_final(Tree *tree, const Instance *owner, const Element *element, const Modifier *modifiers, uint32_t count);
/* The element is redeclared: check_redeclarations looks at it. */
void note_redeclared(Tree *tree, Instance *owner, uint32_t number);

/* Refuses `class f = g` where g is a function, and a short class of another kind than its base allows. */
bool check_alias(Tree *tree, const AstClass *definition, Instance *base);
/* Refuses a base class that a class of that kind cannot have. */
bool check_base_kind(Tree *tree, const Instance *instance, const AstClass *derived, Instance *base, Span span);
/* The same for an extends clause; operator records, and packages of them, are none. */
bool check_base(Tree *tree, const Instance *instance, const AstClass *derived, Instance *base, Span span);
/* Refuses other elements beside a base class that is an array, has prefixes or is a type of the language. */
void check_simple_bases(Tree *tree, Instance *instance);

/* ---- interface.c ---- */

/* Why `type` is not a subtype of `of`, in words that follow "it"; NULL if it is one, or if that is unknown. Both are classes, or
 * both components. */
const char *interface_difference(Tree *tree, Instance *type, Instance *of);

/* ---- redeclare.c ---- */

/* Refuses redeclarations that the language does not allow, and types that their constraining types do not. */
bool check_redeclarations(Tree *tree);
/* Refuses an outer component with modifications, or whose inner one is not a subtype of it. */
bool check_outer(Tree *tree, Instance *outer);
/* Refuses outer classes of the owner whose inner element is a component, or a class that is not a subtype; warns where there is
 * none. */
bool check_outer_classes(Tree *tree, Instance *owner);

/* ---- restrict.c ---- */

/* Refuses a component of the model that its class, prefixes and owner do not allow; false after the report. */
bool restrict_component(Tree *tree, Instance *instance);
/* Refuses functions of an operator that no call can distinguish, and constructors with another result than the record. `operation`
 * is the operator, or the function if there is only one. */
void restrict_operator(Tree *tree, const Instance *record, Instance *operation, bool is_constructor);

/* ---- declare.c ---- */

/* The expression for fields of a value: {a, if c then b else R(1)}.x is {a.x, if c then b.x else 1}. */
AstExpr take_fields(Tree *tree, AstExpr e, Scope scope, const FieldChain *fields);

/* ---- evaluate.c ---- */

/* Numbers of an expression; false after an error, which names `what`. */
bool evaluate_numbers(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count,
                      const char *what, NumberVec *numbers);

/* Sizes of the value that a modifier gives. */
bool evaluate_sizes(Tree *tree, const Modifier *binding, NumberVec *sizes);
/* Values of an iterator: those of a vector, or of a type. */
bool evaluate_range(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count,
                    NumberVec *numbers);
/* Truth of a condition: 1 or 0, -1 if it is not known before the model runs. Reports nothing. */
int evaluate_condition(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count);

/* The number that an attribute of a variable is given; false if it has none that is known. Reports nothing. */
bool instance_attribute(Tree *tree, Instance *instance, const char *name, double *value);

/* Its condition holds, or it has none. */
bool instance_is_present(Tree *tree, Instance *instance);
/* It is an array without elements, or stands in one: conditions and sizes inside have nothing to depend on. */
bool instance_is_empty(const Instance *instance);
bool instance_has_open_size(const Tree *tree, const Instance *instance);
/* The size of one dimension that is not open; false after an error. */
bool instance_size(Tree *tree, Instance *instance, uint32_t dimension);
/* Marks the parameters whose values were needed. */
void evaluation_finish(Tree *tree);

/* ---- define.c ---- */

/* Writes the flat definitions of all that is reached. */
void definitions_finish(Tree *tree);
/* A component of a package, or inside of one. */
bool instance_is_package(const Instance *instance);
/* Open sizes of an array of records, from its binding. */
bool record_sizes(Tree *tree, Instance *instance);
