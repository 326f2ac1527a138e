/* instance: the tree of instances: what the classes of a model mean once names are looked up, modifications applied and
 * base classes merged.
 *
 * An instance is a component of the model, or a class that was reached (a package with its redeclarations, a function).
 * Its elements are those of its class and of all base classes; each comes from one part, the class that declares it.
 * Instances of elements are made when they are first asked for, so a library costs what the model reaches of it.
 *
 * Invariants: an array of components is one instance, whose elements share its kids; parts stand in the order of a walk
 * over base classes, so what a part inherits is the range [part, end). Expressions are those of the text; a Scope says
 * where their names are looked up. Everything lives in the heap of the tree. */
#pragma once

#include "base/diag.h"
#include "base/map.h"
#include "syntax/ast.h"

typedef struct Instance Instance;
typedef struct Tree Tree;

/* Where names are looked up: in a part of an instance and what it inherits, then around the class of that part. */
typedef struct Scope {
  Instance *instance;
  uint32_t part;
} Scope;

/* A modification from outside with the scope in which it was written. The first one in a list counts most. */
typedef struct Modifier {
  const AstModification *modification;
  const AstArgument *argument; /* that holds it; NULL: the declaration itself */
  Scope scope;
  bool is_each, is_final;
} Modifier;

typedef LIST(Modifier) Modifiers;

/* A class whose elements are elements of the instance: its own class, then base classes. */
typedef struct Part {
  const AstClass *definition; /* NULL: a base type */
  Instance *around;           /* the instance of the class in which the definition stands; NULL: the root */
  uint32_t parent, end;       /* the part that extends it (its own number if none); parts [itself, end) */
  Modifiers modifiers;        /* on all that it contains, outermost first */
  const AstElement *extends;  /* the clause that brought it; NULL: the class itself */
  bool is_protected;          /* inherited by a protected extends */
} Part;

typedef VEC(Part) PartVec;

/* An element as declared: a component or class of one part. */
typedef struct Element {
  Name name;
  uint32_t part;
  const AstElement *ast;
  Instance *instance; /* NULL until it is asked for */
} Element;

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
} InstanceBase;

/* A connect clause of an instance: its ifs are decided, its fors unrolled. */
typedef struct ConnectClause {
  const AstStatement *statement; /* AST_CONNECT, or AST_INVOKE of Connections.branch, root, potentialRoot, uniqueRoot */
  Scope scope;
  LIST(struct IteratorValue {
    Name name;
    int64_t value;
  })
  iterators; /* of the loops around it, innermost last */
} ConnectClause;

struct Instance {
  InstanceKind kind;
  Name name;        /* of the element; 0: the root */
  Instance *parent; /* a component: the instance whose element it is; a class: the one in which it is declared */
  Scope declared;   /* scope of its declaration: names of type, dimensions and condition are looked up there */
  const AstElement *element; /* its declaration, or what redeclares it; NULL: the model itself, the root */
  uint32_t prefixes;         /* AstPrefix bits, with those of its class (connector X = input Real) and of what is
                                around it (flow, input, parameter of a record) */
  Modifiers modifiers;       /* on the instance as a whole, outermost first; the declaration's own is the last */
  Instance *type;            /* of a component: the class it is an instance of */
  InstanceBase base;
  const AstClass *enumeration; /* BASE_ENUMERATION: with the literals */
  AstClassKind restriction;    /* what its class is: model, connector, record, ... */
  PartVec parts;               /* empty until it is opened (instance_open) */
  VEC(Element) elements;
  Map by_name; /* Name -> first element of that name */
  bool is_open, is_failed;
  bool is_absent;  /* its condition is false */
  Instance *inner; /* of an outer component: the inner one that it means */

  /* dimensions, each an expression with its scope: those of the component, then of its type */
  VEC(struct Dimension {
    AstExpr e; /* AST_COLON: found from the binding; AST_NONE: `size` is given */
    Scope scope;
    uint32_t size; /* once known: has_sizes */
  })
  dimensions;
  bool has_sizes;

  Name flat_name;                     /* a.b.c, without subscripts; of a class: its full name */
  VEC(ConnectClause) connect_clauses; /* of all parts; collected by flattening */
};

/* The tree of a model. */
struct Tree {
  Heap *heap;
  Arena arena;
  Names *names;
  Ast *ast;
  Diags *diags;
  Instance *root;  /* holds the classes of all files */
  Instance *model; /* the component that stands for the whole model: its parent is NULL, its flat name empty */
  struct Evaluator *evaluator;
  uint32_t depth; /* of instances within instances, bounded */
};

/* ---- looking up ---- */

/* What a dotted name means. */
typedef struct Found {
  Instance *instance; /* the last part that is an instance; NULL after an error, which is reported */
  uint32_t parts;     /* of the path that it takes; those left are fields of values or literals of an enumeration */
} Found;

/* The element of that name, of the instance and all its base classes; NULL if there is none. */
Instance *instance_element(Tree *tree, Instance *instance, Name name);

/* Looks up the first name of the path outward from the scope, the others inside of what was found. NULL: there is none;
 * nothing is reported. */
Instance *scope_find_class(Tree *tree, Scope scope, AstPath path);

/* Collects parts and elements of the instance; false after an error. */
bool instance_open(Tree *tree, Instance *instance);

/* ---- reading ---- */

/* The instance with subscripts given by the user's text: 'a.b' as written in messages. */
const char *instance_text(Tree *tree, const Instance *instance);

static inline bool instance_is_component(const Instance *instance) { return instance->kind == INSTANCE_COMPONENT; }
static inline bool instance_is_connector(const Instance *instance) { return instance->restriction == CLASS_CONNECTOR; }
static inline bool instance_is_record(const Instance *instance) { return instance->restriction == CLASS_RECORD; }
/* A variable: nothing is inside of it. */
static inline bool instance_is_leaf(const Instance *instance) { return instance->base != BASE_NONE; }

/* Component number i of the instance, in order of declaration, made if need be; NULL for a class, an absent one, or one
 * that stands in place of an earlier element of the same name. i < elements.count. */
Instance *instance_component(Tree *tree, Instance *instance, uint32_t i);

/* Sizes of all dimensions; false after an error. */
bool instance_sizes(Tree *tree, Instance *instance);
/* Product of the sizes of its own dimensions, which are known. */
uint32_t instance_count(const Instance *instance);

/* ---- references ---- */

/* A reference to an instance with its subscripts: those of every component from `base` downward that has dimensions. A
 * subscript is an expression over constants and iterators, or AST_NONE for all. */
typedef struct Subscript {
  const Instance *of; /* whose dimension it is */
  uint32_t dimension;
  AstExpr e; /* of the text; AST_NONE: all */
} Subscript;

typedef struct Reference {
  Instance *instance; /* NULL after an error */
  VEC(Subscript) subscripts;
  uint32_t outer; /* how many parts of the path it took: 1 for a connector of the instance itself (an outside
                     connector), 2 and more for one of a component (inside) */
} Reference;

/* The instance that a component reference means; reports what is wrong. */
Reference reference_resolve(Tree *tree, AstExpr e, Scope scope);
