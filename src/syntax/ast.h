/* ast: the output of the parser, before names have a meaning. Classes, components, equations and statements are structs in the
 * arena; expressions are nodes of one array, addressed by 32-bit index.
 *
 * Invariant: the nodes of an expression are contiguous and in post-order, nodes[first .. e]: kids come before parents. So a
 * loop over that range (ast_first to e) with a stack of values evaluates without recursion, for any depth of nesting. Names are
 * interned without their quotes; every node has its span. The tree is immutable after parsing, and is freed with its heap. */
#pragma once

#include "base/diag.h"
#include "base/map.h"

#define AST_NONE UINT32_MAX

/* A finished array in the arena. */
#define LIST(T)     \
  struct {          \
    T *data;        \
    uint32_t count; \
  }

/* ---- names ---- */

/* One part of a dotted name, with the number of subscripts that follow it. Quotes are not part of the name,
 * but a quoted name ('time') never means a built-in (time). */
typedef struct AstPart {
  Name name;
  uint32_t subscripts : 31;
  uint32_t quoted : 1;
} AstPart;

/* A dotted name: parts[first .. first + count) of the Ast; count 0 means no name. */
typedef struct AstPath {
  uint32_t first, count;
  bool global; /* written with a leading dot */
  Span span;
} AstPath;

/* A name that introduces something: an iterator, a named argument, or a literal of an enumeration. */
typedef struct AstLabel {
  Name name;
  Span span;
} AstLabel;

/* ---- expressions ---- */

typedef uint32_t AstExpr;

typedef LIST(AstExpr) AstExprs;

typedef enum AstKind {
  AST_REAL,      /* value.real */
  AST_INTEGER,   /* value.integer, at most 2^53 in size */
  AST_STRING,    /* value.text, escapes resolved */
  AST_BOOLEAN,   /* value.integer 0 or 1 */
  AST_REFERENCE, /* ast_path; kids: the subscripts of all parts, in order */
  AST_END,       /* end inside subscripts */
  AST_COLON,     /* : as a subscript or dimension */
  AST_OMITTED,   /* an empty place: (a, , c) := f(x) */
  /* A call: ast_path is the function (also der, initial, pure); kids: positional arguments, then as many named ones as there are
   * labels. */
  AST_CALL,
  AST_PARTIAL, /* function f(a = 1) as an argument, in the form of AST_CALL */
  /* f(e for i in r, j in s) with path f; {e for i in r} has path "array". kids: e, r, s; labels: i, j. */
  AST_ITERATION,
  /* Kids joined by + - .+ .-, see ast_operator; a leading sign is the operator of the first kid, so -a is a sum of one kid. */
  AST_SUM,
  AST_PRODUCT,   /* kids joined by * / .* ./, left to right; the first kid's operator is AST_MULTIPLY */
  AST_POWER,     /* two kids; operator AST_RAISE or AST_ELEMENT_RAISE */
  AST_NOT,       /* one kid */
  AST_AND,       /* two or more kids */
  AST_OR,        /* two or more kids */
  AST_RELATION,  /* two kids; operator AST_LESS ... AST_NOT_EQUAL */
  AST_RANGE,     /* start, stop or start, step, stop */
  AST_IF,        /* condition, value, condition, value, ..., else value */
  AST_ARRAY,     /* {a, b, c} */
  AST_MATRIX,    /* [a, b; c, d]: kids are AST_ROW */
  AST_ROW,       /* its elements */
  AST_TUPLE,     /* (a, b): two or more kids, or an empty (), or one omitted; a plain (a) is a itself */
  AST_SUBSCRIPT, /* (e)[i, j], f(x)[i]: kids e, i, j */
  AST_FIELD,     /* (e).name, f(x).name: kid e; value.text is the name */
} AstKind;

typedef enum AstOperator {
  AST_ADD,
  AST_SUBTRACT,
  AST_ELEMENT_ADD,
  AST_ELEMENT_SUBTRACT,
  AST_MULTIPLY,
  AST_DIVIDE,
  AST_ELEMENT_MULTIPLY,
  AST_ELEMENT_DIVIDE,
  AST_RAISE,
  AST_ELEMENT_RAISE,
  AST_LESS,
  AST_LESS_EQUAL,
  AST_GREATER,
  AST_GREATER_EQUAL,
  AST_EQUAL,
  AST_NOT_EQUAL,
} AstOperator;

typedef struct AstNode {
  uint8_t kind;      /* AstKind */
  uint8_t operation; /* AstOperator of a power or relation; for a flat call: 1 if the record is made from its fields */
  uint8_t global;    /* the path has a leading dot */
  uint32_t first;    /* the expression is nodes[first .. itself] */
  uint32_t kids, kid_count;
  uint32_t extra, extra_count; /* parts of the path, or operators of a sum or product */
  Span span;
  union {
    double real;
    int64_t integer;
    Name text;
    struct {
      uint32_t first, count;
    } labels;
  } value;
} AstNode;

/* ---- modifications and annotations ---- */

typedef struct AstModification AstModification;
typedef struct AstClass AstClass;
typedef struct AstElement AstElement;

/* One argument of a modification: [each] [final] name [modification] "comment", or a redeclared element, or a removal: break name,
 * break connect(a, b). */
typedef struct AstArgument {
  bool is_final, is_each;
  bool is_break;                 /* for an element: `name` is removed; for a connection: `left` and `right` are given */
  AstPath name;                  /* for a redeclaration: the name of the element */
  AstModification *modification; /* NULL: none */
  AstElement *redeclared;        /* redeclare or replaceable element; NULL: none */
  AstExpr left, right;           /* the ends of a removed connection; AST_NONE otherwise */
  Name comment;
  Span span;
} AstArgument;

/* (arguments) = value; each part may be missing. An annotation has arguments only. */
struct AstModification {
  LIST(AstArgument) arguments;
  bool is_break; /* = break: the binding is removed */
  AstExpr value; /* AST_NONE: none */
  Span span;
};

/* ---- equations and statements ---- */

typedef enum AstStatementKind {
  AST_EQUALITY, /* left = right */
  AST_ASSIGN,   /* left := right; left is a reference or an AST_TUPLE */
  AST_CONNECT,  /* connect(left, right) */
  AST_INVOKE,   /* a call as a statement, in left: assert, terminate, reinit, or a function */
  AST_IF_BLOCK, /* branches; the else branch has condition AST_NONE */
  AST_WHEN_BLOCK,
  AST_FOR_BLOCK,   /* iterators, one branch */
  AST_WHILE_BLOCK, /* one branch */
  AST_BREAK,
  AST_RETURN,
  AST_TERM, /* an expression as a term of an energy, in left */
} AstStatementKind;

typedef struct AstStatement AstStatement;

typedef struct AstBranch {
  AstExpr condition; /* AST_NONE: else, or the body of a for */
  LIST(AstStatement) body;
  Span span; /* place of the head: if ... then */
} AstBranch;

typedef struct AstIterator {
  AstLabel label;
  AstExpr range;
} AstIterator;

struct AstStatement {
  AstStatementKind kind;
  Name comment;
  AstExpr left, right; /* AST_NONE if the kind has none */
  LIST(AstIterator) iterators;
  LIST(AstBranch) branches;
  AstModification *annotation; /* NULL: none */
  Span span;
};

/* Sections that define an energy, from which equations are derived (docs/energy.md). */
typedef enum AstEnergy {
  ENERGY_NONE, /* equations or statements */
  ENERGY_LAGRANGIAN,
  ENERGY_DISSIPATION,
  ENERGY_FORCE,
  ENERGY_MINIMIZE,
  ENERGY_MAXIMIZE,
  ENERGY_CONSTRAINT,
  ENERGY_COUNT,
} AstEnergy;

/* The words that open these sections. They are not keywords. */
extern const char *const ast_energy_words[ENERGY_COUNT];

typedef struct AstSection {
  bool is_initial, is_final, is_algorithm; /* final: holds at the end of a run (docs/boundary.md) */
  AstEnergy energy;
  LIST(AstStatement) body;
  Name state; /* for flat sections: the state, of a state machine, to which the section belongs; 0: none */
  Span span;  /* of the keyword */
} AstSection;

/* ---- elements of classes ---- */

/* Prefixes of classes and components, as bits. */
typedef enum AstPrefix {
  PREFIX_PROTECTED = 1 << 0,
  PREFIX_FINAL = 1 << 1,
  PREFIX_INNER = 1 << 2,
  PREFIX_OUTER = 1 << 3,
  PREFIX_REDECLARE = 1 << 4,
  PREFIX_REPLACEABLE = 1 << 5,
  PREFIX_FLOW = 1 << 6,
  PREFIX_STREAM = 1 << 7,
  PREFIX_DISCRETE = 1 << 8,
  PREFIX_PARAMETER = 1 << 9,
  PREFIX_CONSTANT = 1 << 10,
  PREFIX_INPUT = 1 << 11,
  PREFIX_OUTPUT = 1 << 12,
  PREFIX_ENCAPSULATED = 1 << 13,
  PREFIX_PARTIAL = 1 << 14,
  PREFIX_PURE = 1 << 15,
  PREFIX_IMPURE = 1 << 16,
  PREFIX_EXPANDABLE = 1 << 17,
  PREFIX_OPERATOR = 1 << 18, /* operator record, operator function */
} AstPrefix;

/* The type of a component or short class: its name and the dimensions written on it (AST_COLON for an open one). Dimensions of the
 * component itself come first: Real[3] x[2] is 2 by 3. */
typedef struct AstType {
  AstPath name;
  AstExprs dimensions;
} AstType;

typedef struct AstComponent {
  const AstType *type; /* shared by the components of one clause */
  AstLabel label;
  AstExprs dimensions;           /* dimensions written on the name */
  AstModification *modification; /* NULL: none; its value is the binding */
  AstExpr condition;             /* x if condition; AST_NONE: none */
  Name comment;
  AstModification *annotation;
  /* for flat declarations that are written from instances: */
  Name pattern;          /* the name with \1 in place of each subscript: r[\1].v; 0: subscripts come after the name */
  bool is_view;          /* a record whose fields are declared one by one, as a.x and a.y */
  bool is_inside_hidden; /* in a flat model: inside a component that results need not show */
  bool
      is_inner_input; /* in a flat model: an input of a component, which a connection or an equation must give a value */
  bool is_structural; /* its value determined the structure */
} AstComponent;

typedef struct AstExtends {
  AstPath name;
  AstModification *modification, *annotation;
} AstExtends;

/* import a.b.c; import d = a.b.c; import a.b.*; import a.b.{c, d}. */
typedef struct AstImport {
  AstPath name;         /* without the star or the list */
  AstLabel alias;       /* name 0: the last part of the path */
  bool is_all;          /* .* */
  LIST(AstLabel) names; /* the names in the list */
} AstImport;

typedef enum AstElementKind { AST_COMPONENT, AST_CLASS, AST_EXTENDS, AST_IMPORT } AstElementKind;

struct AstElement {
  AstElementKind kind;
  uint32_t prefixes; /* AstPrefix bits; those of a class are in AstClass, too */
  union {
    AstComponent *component;
    AstClass *class_definition;
    AstExtends *extends;
    AstImport *import;
  };
  AstExtends *constraint; /* constrainedby; NULL: none */
  Span span;
};

/* ---- classes ---- */

typedef enum AstClassKind {
  CLASS_CLASS,
  CLASS_MODEL,
  CLASS_BLOCK,
  CLASS_RECORD,
  CLASS_TYPE,
  CLASS_CONNECTOR,
  CLASS_PACKAGE,
  CLASS_FUNCTION,
  CLASS_OPERATOR,
} AstClassKind;

typedef enum AstClassForm {
  FORM_LONG,        /* elements, sections, end Name */
  FORM_SHORT,       /* type X = [prefixes] base[dimensions](modification) */
  FORM_ENUMERATION, /* type X = enumeration(literals) */
  FORM_DERIVATIVE,  /* function X = der(f, x, y): base f, literals x, y */
  FORM_EXTENDS,     /* model extends X(modification) elements ... end X */
} AstClassForm;

typedef struct AstLiteral {
  AstLabel label;
  Name comment;
} AstLiteral;

typedef struct AstExternal {
  Name language;     /* 0: not given, which means C */
  AstExpr output;    /* reference that is assigned; AST_NONE: none */
  AstLabel function; /* name 0: no call is given */
  AstExprs arguments;
  AstModification *annotation;
  Name include_directory, library_directory; /* paths, after they are found; 0: none */
  Span span;
} AstExternal;

/* A violation of the language's rules in a class, as far as its text shows it. */
typedef struct AstBreach {
  const char *message;
  Span span;
  const char *note; /* NULL: none */
  Span note_span;
  bool is_plain; /* the meaning is clear anyway: only a warning without --strict */
  const struct AstBreach *next;
} AstBreach;

struct AstClass {
  AstClassKind kind;
  AstClassForm form;
  uint32_t prefixes; /* AstPrefix bits */
  AstLabel label;
  Name comment;
  AstType base;                  /* FORM_SHORT, FORM_DERIVATIVE */
  uint32_t base_prefixes;        /* FORM_SHORT: connector X = input Real */
  AstModification *modification; /* FORM_SHORT, FORM_EXTENDS */
  LIST(AstLiteral) literals;     /* FORM_ENUMERATION, FORM_DERIVATIVE */
  bool is_open;                  /* enumeration(:) */
  LIST(AstElement) elements;     /* in source order */
  LIST(AstSection) sections;
  AstExternal *external; /* NULL: none */
  LIST(struct AstOverload {
    Name name;     /* name of the operator, without quotes */
    Name function; /* full name */
  })
  operators; /* for flat operator records */
  AstModification *annotation;
  const AstBreach *breaches;      /* reported when the class is first used */
  struct LibraryPackage *package; /* further classes in separate files (library.h); NULL: none */
  Span span;                      /* from the first prefix to the semicolon */
};

/* The contents of one file. */
typedef struct AstFile {
  Name version; /* of the line //! base 0.1.0; 0: none */
  bool has_within;
  AstPath within; /* count 0: at top level */
  LIST(AstClass *) classes;
} AstFile;

/* All files that were read. A tree of one file may contain expressions of another. */
typedef struct Ast {
  Heap *heap;
  Arena arena;
  Names *names;
  const Source *source;
  const AstFile *main; /* the file that the user gave */
  VEC(AstNode) nodes;
  IndexVec kids;
  VEC(AstPart) parts;
  VEC(AstLabel) labels;
  VEC(uint8_t) operators;
} Ast;

/* The keywords for kinds of classes. */
extern const char *const ast_class_words[];

/* The keyword of the first of these prefixes. */
const char *ast_prefix_text(uint32_t prefixes);

/* ---- reading ---- */

static inline const AstNode *ast_node(const Ast *ast, AstExpr e) { return &ast->nodes.data[e]; }
static inline AstKind ast_kind(const Ast *ast, AstExpr e) { return (AstKind)ast->nodes.data[e].kind; }
static inline Span ast_span(const Ast *ast, AstExpr e) { return ast->nodes.data[e].span; }

/* First node of the expression in post-order: for (i = ast_first(ast, e); i <= e; i++). */
static inline AstExpr ast_first(const Ast *ast, AstExpr e) { return ast->nodes.data[e].first; }

static inline uint32_t ast_kid_count(const Ast *ast, AstExpr e) { return ast->nodes.data[e].kid_count; }
static inline AstExpr ast_kid(const Ast *ast, AstExpr e, uint32_t i) {
  return ast->kids.data[ast->nodes.data[e].kids + i];
}

/* Operator in front of kid i of a sum or product. */
static inline AstOperator ast_operator(const Ast *ast, AstExpr e, uint32_t i) {
  return (AstOperator)ast->operators.data[ast->nodes.data[e].extra + i];
}

/* Name of a reference, or of the function of a call, partial call or iteration. */
static inline AstPath ast_path(const Ast *ast, AstExpr e) {
  const AstNode *node = &ast->nodes.data[e];
  return (AstPath){node->extra, node->extra_count, node->global, node->span};
}
static inline const AstPart *ast_part(const Ast *ast, AstPath path, uint32_t i) {
  return &ast->parts.data[path.first + i];
}

/* Labels of a call (its named arguments, the last kids) or an iteration (its iterators). */
static inline uint32_t ast_label_count(const Ast *ast, AstExpr e) { return ast->nodes.data[e].value.labels.count; }
static inline AstLabel ast_label(const Ast *ast, AstExpr e, uint32_t i) {
  return ast->labels.data[ast->nodes.data[e].value.labels.first + i];
}

/* Is the path this single unquoted name without subscripts (for example a built-in)? */
bool ast_path_is(const Ast *ast, AstPath path, const char *name);

/* The argument of that name in a modification, which may be NULL; NULL if there is none. */
const AstArgument *ast_argument(const Ast *ast, const AstModification *modification, const char *name);

/* The literal Boolean that an annotation gives a name; `otherwise` if it gives none. */
bool ast_annotation(const Ast *ast, const AstModification *annotation, const char *name, bool otherwise);

/* Should results leave the component out? True for annotation(HideResult = true), or protected without annotation(HideResult =
 * false). */
bool ast_hides_result(const Ast *ast, const AstElement *element);

/* The name that an element declares; name 0 if it is an extends clause or import. */
AstLabel ast_element_label(const AstElement *element);

/* The path as text, a.b.c, without quotes and subscripts; lives in the arena. */
const char *ast_path_text(const Ast *ast, AstPath path, Arena *arena);
