/* instance: the tree of instances: the classes of a model after names are looked up, modifications applied and base classes
 * merged.
 *
 * An instance is a component of the model, or a class that was reached (a package with its redeclarations, a function). Its
 * elements are those of its class and of all base classes; each comes from one part, the class that declares it. Instances of
 * elements are made on first use, so a library costs only as much as the elements that the model reaches.
 *
 * Invariants: an array of components is one instance, whose elements share its kids. If the elements differ in their structure,
 * the array is split: each element is an instance of its own, a scalar with the name r[2], and the array only leads to them.
 * Parts are in the order of a walk over base classes, so a part and the parts that it inherits are the range [part, end).
 * Expressions are nodes of the text; a Scope says where their names are looked up. Everything is owned by the heap of the tree. */
#pragma once

#include "base/diag.h"
#include "base/map.h"
#include "syntax/library.h"

typedef struct Instance Instance;
typedef struct Tree Tree;

/* Where names are looked up: in a part of an instance and the parts that it inherits, then around the class of that
 * part. */
typedef struct Scope {
  Instance *instance;
  uint32_t part;
} Scope;

/* A modification from outside, with the scope in which it was written. The first one in a list takes precedence. */
typedef struct Modifier {
  const AstModification *modification; /* its arguments apply to the contents */
  AstExpr value;                       /* AST_NONE if none */
  const struct FieldChain *fields;     /* the value is this field of `value`; NULL: `value` itself */
  Scope scope;
  const Instance *of; /* its class has the modifier: the value is for each element of it; NULL: none */
  bool is_each, is_final, is_break;
  bool is_constraint; /* from a constraining clause, or from a declaration that was replaced */
} Modifier;

/* The fields .a.b of a value, as a chain that begins with b. */
typedef struct FieldChain {
  Name name;
  const struct FieldChain *outer;
} FieldChain;

typedef LIST(Modifier) Modifiers;

/* A class whose elements are elements of the instance: its own class, then base classes. */
typedef struct Part {
  const AstClass *definition; /* NULL: a base type */
  Instance *type;             /* the instance of the class */
  Scope around;               /* scope that contains the definition */
  uint32_t parent,
      end; /* parent: the part that extends this one, or this part itself if none does. The parts before `end` are this one and all that it inherits */
  Modifiers modifiers;       /* for all its contents, outermost first */
  const AstElement *extends; /* the clause that added it; NULL: the class itself */
  bool is_protected;         /* inherited by a protected extends */
} Part;

typedef VEC(Part) PartVec;

/* A declaration and its scope. */
typedef struct Declaration {
  const AstElement *ast;
  Scope scope;
} Declaration;

/* An element as declared: a component or class of one part. */
typedef struct Element {
  Name name;
  uint32_t part;
  uint32_t next; /* next element of the same name; UINT32_MAX: none */
  uint32_t last; /* for the first element of a name: the last one; 0: there is only one */
  const AstElement *ast;
  VEC(Declaration) redeclared; /* elements of derived classes that redeclare it, the innermost class first */
  Instance *instance;          /* NULL until needed; for an outer class the inner one, if there is one */
  Instance *own;               /* for an outer class: its own definition; NULL until needed */
  bool is_busy;                /* the instance is being made */
  bool is_removed;             /* removed by break, or because it repeats an earlier element */
  bool is_noted;               /* the element is in the tree's list of redeclared elements */
} Element;

typedef struct Import {
  const AstImport *ast;
  uint32_t part;
} Import;

typedef enum InstanceKind { INSTANCE_CLASS, INSTANCE_COMPONENT } InstanceKind;

/* Base types by the names of the language; BASE_NONE: a class with elements. */
typedef enum InstanceBase {
  BASE_NONE,
  BASE_REAL,
  BASE_INTEGER,
  BASE_BOOLEAN,
  BASE_STRING,
  BASE_ENUMERATION,
  BASE_CLOCK,
  BASE_EXTERNAL_OBJECT,
  BASE_COUNT,
} InstanceBase;

/* A connect clause of an instance: enclosing ifs are decided, and fors unrolled. */
typedef struct ConnectClause {
  const AstStatement *statement; /* AST_CONNECT, or AST_INVOKE of Connections.branch, root, potentialRoot, uniqueRoot */
  Scope scope;
  LIST(struct IteratorValue {
    Name name;
    int64_t value;
  })
  iterators; /* values for the enclosing loops, innermost last */
} ConnectClause;

struct Instance {
  InstanceKind kind;
  Name name;        /* name of the element; 0: the root */
  Instance *parent; /* the instance that has the component as an element, or that declares the class */
  Scope declared;   /* scope of its declaration: names of type, dimensions and condition are looked up there */
  const AstClass *definition; /* definition of a class; NULL: a base type, the root, a component */
  Scope around;               /* for a class: the scope of the definition */
  const AstElement *element;  /* its declaration, or the one that redeclares it; NULL: the model itself, the root */
  const AstElement *first_element; /* its declaration before redeclarations */
  uint32_t first_part;             /* the part of the parent that contains first_element */
  Instance *former;                /* for `class extends X`: X as it was before */
  /* AstPrefix bits, including those of its class (connector X = input Real) and of the instances that contain it (flow, input,
   * parameter
   * of a record) */
  uint32_t prefixes;
  Modifiers modifiers; /* for the instance as a whole, outermost first; the declaration's own is last */
  Instance *type;      /* for a component: the class it is an instance of */
  InstanceBase base;
  Instance *enumeration;    /* BASE_ENUMERATION: the class with the literals */
  AstClassKind restriction; /* kind of its class: model, connector, record, ... */
  PartVec parts;            /* empty until it is opened (instance_open) */
  VEC(Element) elements;
  VEC(Import) imports;
  Map by_name; /* Name -> first element of that name */
  bool is_open, is_failed;
  bool is_decided; /* its condition was evaluated */
  bool is_absent;  /* its condition is false */
  bool is_added;   /* a connection added it to an expandable connector */
  bool is_state;   /* a state of a state machine: a transition or initialState names it */
  Instance *inner; /* for an outer component: the inner one that it refers to */

  /* dimensions, each an expression with its scope: those of the component, then of its type */
  VEC(struct Dimension {
    AstExpr e; /* AST_COLON: found from the binding; AST_NONE: `size` is given */
    Scope scope;
    uint32_t size; /* valid once has_sizes is set */
  })
  dimensions;
  bool has_sizes;

  bool is_split;        /* its elements differ in structure */
  uint32_t first_split; /* if it is split: number of the array's first element in the parent; 0: not made yet */
  Instance *array;      /* for an element of a split array: the array; NULL: none */
  uint32_t place;       /* for an element of a split array: its place there, from 0, over all dimensions */

  AstElement *flat;                   /* its flat declaration; NULL until it is made */
  uint32_t session;                   /* 1 + its number in the session of values; 0: not declared there */
  bool is_reached;                    /* it is declared, or waiting to be declared */
  Name flat_name;                     /* a.b.c, without subscripts; of a class: its full name */
  VEC(ConnectClause) connect_clauses; /* connect clauses of all parts; collected by flattening */
};

/* The data that a tree gets from the previous tree when it is made again. */
typedef struct Earlier {
  Map splits;        /* set of flat names: the arrays whose elements differ in structure, as far as known */
  Diags *diags;      /* where messages go, unless something is only tried */
  VEC(Diag) reading; /* those about files, each of which is read only once */
} Earlier;

/* The tree of a model. */
struct Tree {
  Heap *heap;
  Arena arena;
  Names *names;
  Ast *ast;
  Source *source;
  struct Library *library;
  uint32_t renaming;      /* depth of searches for classes under another name */
  bool is_strict;         /* refuse everything that the language forbids; otherwise only warn if the meaning is clear */
  const AstFile *builtin; /* NULL until it is read */
  Diags *diags;
  Diag *last;                  /* the last error reported, for notes */
  Diag *silenced;              /* the first error in something that was only tried; NULL: none */
  Instance *root;              /* holds the classes of all files */
  Instance *bases[BASE_COUNT]; /* the base types, as classes */
  Instance *model; /* the component that represents the whole model: its parent is NULL, its flat name empty */
  VEC(struct Definition {
    Instance *instance;
    AstClass *ast; /* NULL until it is made */
    bool is_sent;  /* the declaration was passed to the session */
  })
  definitions; /* functions, records, enumerations, external objects that the model reaches */
  uint32_t definitions_done;
  Map definition_of;        /* full name -> definition */
  VEC(Instance *) reached;  /* constants of packages, and records as a whole */
  VEC(Instance *) declared; /* in the session */
  VEC(Instance *) wanted;   /* instances to be declared in the session */
  VEC(struct NewValue {
    Name name; /* r[2].v: with all subscripts, without blanks */
    AstExpr value;
  })
  new_values; /* values from outside the text that replace bindings */
  VEC(struct RedeclaredElement {
    Instance *owner;
    uint32_t element;
  })
  redeclared; /* elements whose redeclarations are to be checked */
  struct LangSession *session;
  struct Connections *connections; /* NULL until needed */
  uint32_t depth;                  /* depth of nested evaluations, bounded */
  Earlier *earlier;
  bool has_new_splits; /* more split arrays were found: the tree has to be made again */
};

/* ---- looking up ---- */

/* The meaning of a name, looked up outward from the scope; NULL if there is none. */
Instance *scope_find(Tree *tree, Scope scope, Name name);
/* The enumeration whose literal is imported under this name (Modelica 3.6, section 13.2.1); NULL if there is none. */
Instance *scope_find_literal(Tree *tree, Scope scope, Name name, Name *literal);

/* The element of that name in the instance and all its base classes; NULL if there is none. */
Instance *instance_element(Tree *tree, Instance *instance, Name name);

/* The class that a path means: its first name is looked up outward from the scope, the others inside the class found. Reports an
 * error and returns NULL if there is none. */
Instance *scope_find_class(Tree *tree, Scope scope, AstPath path);

/* Collects the parts and elements of the instance; false after an error. */
bool instance_open(Tree *tree, Instance *instance);

/* ---- reading ---- */

/* The name of the instance as messages show it: 'a.b'. */
const char *instance_text(Tree *tree, const Instance *instance);

static inline bool instance_is_component(const Instance *instance) { return instance->kind == INSTANCE_COMPONENT; }
static inline bool instance_is_connector(const Instance *instance) { return instance->restriction == CLASS_CONNECTOR; }
static inline bool is_expandable(const Instance *instance) {
  return (instance->prefixes | (instance->type ? instance->type->prefixes : 0)) & PREFIX_EXPANDABLE;
}
static inline bool instance_is_record(const Instance *instance) { return instance->restriction == CLASS_RECORD; }
/* inner outer output: states inside this one share the variable of the enclosing states (Modelica 3.6, section 17.3.5). */
static inline bool prefixes_pass_through(uint32_t prefixes) {
  uint32_t all = PREFIX_INNER | PREFIX_OUTER | PREFIX_OUTPUT;
  return (prefixes & all) == all;
}
/* Does the instance refer to another component, without being a variable itself? */
static inline bool instance_is_only_outer(const Instance *instance) {
  return (instance->prefixes & (PREFIX_OUTER | PREFIX_INNER)) == PREFIX_OUTER ||
         prefixes_pass_through(instance->prefixes);
}
/* Is the instance a variable, with nothing inside? */
static inline bool instance_is_leaf(const Instance *instance) { return instance->base != BASE_NONE; }

/* Component number i of the instance, in order of declaration, made on first use. NULL for a class, for an absent component, and
 * for one that replaces an earlier element of the same name. A split array is not a component; its elements are further components,
 * after all that are declared. i < elements.count. */
Instance *instance_component(Tree *tree, Instance *instance, uint32_t i);

/* The subscript in dimension k of the element of an array at a place, which counts from 0 over all dimensions. */
uint32_t instance_subscript(const Instance *array, uint32_t place, uint32_t k);

/* The element of a split array at a place; NULL after an error. */
Instance *instance_split_element(Tree *tree, Instance *array, uint32_t place);

/* Finds the sizes of all dimensions; false after an error. */
bool instance_sizes(Tree *tree, Instance *instance);
/* Product of the sizes of its own dimensions, which must be known. */
uint32_t instance_count(const Instance *instance);
