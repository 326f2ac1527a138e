/* lookup: functions about names, errors and the making of instances, shared by the files of src/instance. */
#pragma once

#include "instance/instance.h"
#include "lang/lang.h"

/* Is the element protected, or inherited by a protected extends? */
static inline bool element_is_protected(const Instance *instance, const Element *element) {
  return element->ast->prefixes & PREFIX_PROTECTED || instance->parts.data[element->part].is_protected;
}

/* ---- errors ---- */

/* Reports an error in the input. If the error is not in the model itself, a note names the instance. It is kept in tree->last for
 * further notes. */
__attribute__((format(printf, 4, 5))) void tree_error(Tree *tree, Span span, const Instance *instance,
                                                      const char *format, ...);
/* Adds a note to the last error if the name of an element is similar to the word. */
void tree_suggest_element(Tree *tree, const Instance *instance, const char *word);
/* Like tree_error, with an explicit code. */
__attribute__((format(printf, 5, 6))) void tree_refuse(Tree *tree, DiagCode code, Span span, const Instance *instance,
                                                       const char *format, ...);
/* For something that the language forbids, but that has a clear meaning and other tools accept: a warning, once per place; with
 * --strict an error. Returns true if reading may continue. */
__attribute__((format(printf, 5, 6))) bool tree_tolerate(Tree *tree, DiagCode code, Span span, const Instance *instance,
                                                         const char *format, ...);

/* Keeps the messages after the first `before`, which are about a file just read, for a tree that is made again. */
void keep_reading(Tree *tree, uint32_t before);

/* Is there an error or warning at this place? */
bool is_reported(const Tree *tree, Span span);

/* ---- tree.c ---- */

/* Creates the root and the base types. */
void tree_start(Tree *tree);
Instance *class_instance(Tree *tree, Instance *parent, const AstElement *element, const AstClass *definition,
                         Scope around, Modifiers modifiers);
/* Creates the instance that represents the model. */
Instance *model_instance(Tree *tree, Instance *type);
/* The instance of element `number`, made on first use; NULL after an error. */
Instance *element_instance(Tree *tree, Instance *owner, uint32_t number);

/* Declares the missing inner component of an outer one in the model itself, with a warning; NULL after an error. */
Instance *add_missing_inner(Tree *tree, Instance *outer);

/* If part `part` of the instance, or a class that it inherits, is a package: finds a class in a separate file next to that package.
 * The class becomes an element, whose number is returned. MAP_NONE if there is none. */
uint32_t library_element(Tree *tree, Instance *instance, uint32_t part, Name name);

/* Adds a component to an expandable connector, with the class of `like`, without its values, and with these sizes. */
Instance *instance_add(Tree *tree, Instance *owner, Name name, const Instance *like, const uint32_t *sizes,
                       uint32_t count);

/* One declaration in the list of declarations of an element. Each replaces the declarations after it. */
typedef struct Redeclaration {
  Declaration declaration;
  bool is_each;
  bool is_modifier;   /* it is in a modification, not among the elements of a class */
  bool is_constraint; /* that modification belongs to a constraining clause */
} Redeclaration;

typedef VEC(Redeclaration) RedeclarationVec;

/* All declarations of an element, from the outermost class or modification to its own. The first one counts. */
void element_declarations(Tree *tree, Instance *owner, const Element *element, RedeclarationVec *list);

/* ---- lookup.c ---- */

/* A class at the root: from the files, from a library, or built in. NULL if there is none. */
Instance *root_find(Tree *tree, Name name);
/* The class that an extends clause in part `scope` names. Elements that the part inherits are ignored. */
Instance *scope_find_base(Tree *tree, Scope scope, AstPath path);
/* Like scope_find_class, but reports nothing. */
Instance *scope_try_class(Tree *tree, Scope scope, AstPath path);

/* May a composite name access element `name` of `in`? Refuses the name if the element is protected, if `in` is partial, or if
 * `in` is not a package and the element is not encapsulated. true if there is no such element. */
bool check_access(Tree *tree, Scope scope, const Instance *in, Name name, Span span);

/* The inner component that an outer one refers to; NULL if there is none so far. */
Instance *find_inner(Tree *tree, Instance *outer);
/* The component that an outer component refers to; the component itself if it is not outer. NULL after an error. */
Instance *instance_inner(Tree *tree, Instance *instance);

/* The inner element of that name that encloses the owner. It must be a class or a component like `like` (NULL: either). NULL if
 * there is
 * none. */
Instance *find_inner_element(Tree *tree, Instance *owner, Name name, const AstElement *like);
const char *restriction_text(AstClassKind restriction);

/* ---- binding.c ---- */

/* Is a name from outside the name of the variable, or of some of its elements? */
typedef enum NewValueFit { FIT_NONE, FIT_PART, FIT_WHOLE } NewValueFit;
NewValueFit new_value_fit(const Tree *tree, Name name, const Instance *instance);
/* The modifier that gives the value; NULL if there is none. */
const Modifier *instance_binding(const Instance *instance);
/* Is the value of a record given as a whole, by an equation? For a variable: the value of a record that contains it. */
bool binding_is_whole(Tree *tree, Instance *instance);

/* ---- check.c ---- */

/* May two elements with the same name count as one element? They need the same type and otherwise the same text. */
bool elements_equal(Tree *tree, Instance *instance, const Element *a, const Element *b);
/* Refuses modifiers of elements that do not exist, of protected elements of a component, and of final attributes. */
void check_modifiers(Tree *tree, Instance *instance);
/* Is the connection left out, because a class that extends this part breaks it, or breaks a component that it connects (section
 * 7.4)? */
bool is_deselected(const Tree *tree, Scope scope, const AstStatement *statement);
/* Refuses to modify an element from outside of the modifier that makes it final. The outermost modifier comes first. */
void check_final(Tree *tree, const Instance *owner, const Element *element, const Modifier *modifiers, uint32_t count);
/* Records a redeclared element for check_redeclarations. */
void note_redeclared(Tree *tree, Instance *owner, uint32_t number);

/* Refuses `class f = g` if g is a function, and a short class whose kind does not fit its base. */
bool check_alias(Tree *tree, const AstClass *definition, Instance *base);
/* Refuses a base class that a class of that kind cannot extend. */
bool check_base_kind(Tree *tree, const Instance *instance, const AstClass *derived, Instance *base, Span span);
/* Refuses base classes that an extends clause cannot name: also operator records, and packages of them. */
bool check_base(Tree *tree, const Instance *instance, const AstClass *derived, Instance *base, Span span);
/* Refuses other elements next to a base class that is an array, has prefixes or is a base type of the language. */
void check_simple_bases(Tree *tree, Instance *instance);

/* ---- interface.c ---- */

/* Why `type` is not a subtype of `of`, as a phrase after "it"; NULL: it is a subtype, or this is unknown. Both are classes,
 * or both are components. */
const char *interface_difference(Tree *tree, Instance *type, Instance *of);

/* ---- redeclare.c ---- */

/* Refuses redeclarations that the language does not allow, and types that do not satisfy their constraining types. */
bool check_redeclarations(Tree *tree);
/* Refuses an outer component that has modifications, or whose inner one is not a subtype of it. */
bool check_outer(Tree *tree, Instance *outer);
/* Refuses outer classes of the owner whose inner element is a component, or a class that is not a subtype. Warns if there is no
 * inner element. */
bool check_outer_classes(Tree *tree, Instance *owner);

/* ---- restrict.c ---- */

/* Refuses a component of the model that its class, prefixes and owner do not allow; false after an error. */
bool restrict_component(Tree *tree, Instance *instance);
/* Refuses functions of an operator that no call can distinguish, and constructors whose result is not the record. `operation` is
 * the operator, or the function if there is only one. */
void restrict_operator(Tree *tree, const Instance *record, Instance *operation, bool is_constructor);

/* ---- declare.c ---- */

/* The expression for fields of a value: {a, if c then b else R(1)}.x is {a.x, if c then b.x else 1}. */
AstExpr take_fields(Tree *tree, AstExpr e, Scope scope, const FieldChain *fields);

/* ---- evaluate.c ---- */

/* The numbers of an expression; false after an error, which names `what`. */
bool evaluate_numbers(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count,
                      const char *what, NumberVec *numbers);

/* Sizes of the value that a modifier gives the instance. */
bool evaluate_sizes(Tree *tree, Instance *instance, const Modifier *binding, NumberVec *sizes);
/* The values of an iterator: those of a vector, or of a type. */
bool evaluate_range(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count,
                    NumberVec *numbers);
/* The value of a condition: 1 or 0; -1 if it is not known before the simulation. Reports nothing. */
int evaluate_condition(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count);

/* The numbers that a subscript gives: one number, or the elements of a range or an array. `size`: the value of `end`. The second form
 * reports nothing. (subscript.c) */
bool evaluate_subscript(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *iterators,
                        uint32_t iterator_count, uint32_t size, IndexVec *values, bool *is_single);
bool try_subscript(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *iterators, uint32_t iterator_count,
                   uint32_t size, IndexVec *values, bool *is_single);

/* The number that is given for an attribute of a variable; false if there is none or it is not known. Reports nothing. */
bool instance_attribute(Tree *tree, Instance *instance, const char *name, double *value);

/* Is its condition true, or missing? */
bool instance_is_present(Tree *tree, Instance *instance);
/* The elements of the array differ in their structure: each is to be an instance of its own, in a tree that is made again. */
void instance_split(Tree *tree, const Instance *array);
/* Is the instance an array without elements, or inside one? Conditions and sizes inside depend on nothing. */
bool instance_is_empty(const Instance *instance);
bool instance_has_open_size(const Tree *tree, const Instance *instance);
/* The size of one dimension that is not open; false after an error. */
bool instance_size(Tree *tree, Instance *instance, uint32_t dimension);
/* Marks the parameters whose values were used. */
void evaluation_finish(Tree *tree);

/* ---- define.c ---- */

/* Writes the flat definitions of everything that was reached. */
void definitions_finish(Tree *tree);
/* Is the instance a component of a package, or inside one? */
bool instance_is_package(const Instance *instance);
/* Finds the open sizes of an array of records from its binding. */
bool record_sizes(Tree *tree, Instance *instance);
