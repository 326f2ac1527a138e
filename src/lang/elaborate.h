/* elaborate: from the syntax tree to the flat model; shared only by the parts of the elaboration.
 *
 * The steps: classes are collected (classes.c). Components of the model are declared (components.c), evaluated in order of their
 * dependencies (sizes, and values of parameters that the structure needs), and added as variables. Equations, statements and
 * bindings are compiled to code (compile.c, statement.c, routine.c) and run over the graph (symbolic.c). The resulting scalar
 * expressions are collected as equations, actions and assertions (equations.c, algorithm.c). */
#pragma once

#include "external/external.h"

#include "lang/lang.h"
#include "model/execute.h"
#include "model/model.h"
#include "model/number.h"
#include "syntax/ast.h"

#define NONE UINT32_MAX

/* ---- classes ---- */

typedef enum ClassRole {
  ROLE_CLASS_OTHER, /* model, block, package, ...: not a type of components */
  ROLE_CLASS_ALIAS, /* type X = Real(unit = "V") */
  ROLE_CLASS_ENUMERATION,
  ROLE_CLASS_RECORD,
  ROLE_CLASS_FUNCTION,
  ROLE_CLASS_EXTERNAL_OBJECT,
} ClassRole;

typedef enum Progress { PROGRESS_NEW, PROGRESS_OPEN, PROGRESS_DONE, PROGRESS_FAILED } Progress;

typedef struct ClassEntry {
  const AstClass *ast;
  Name name;   /* name with the enclosing packages: P.Q.f */
  Name scope;  /* the enclosing packages: P.Q, or empty */
  Name inside; /* where names inside the class are looked up: its name, or empty if they are full names */
  ClassRole role;
  Progress progress; /* progress of the definition in the model's lists */
  uint32_t index;    /* enumeration, record, routine, external object */
  Progress body;     /* for a function: its code */
} ClassEntry;

/* The meaning of a type name after aliases are followed. Modifications: those of the aliases, outermost last. */
typedef struct ResolvedType {
  Type type;
  VEC(const AstModification *) modifications;
  VEC(const AstExprs *)
  dimensions; /* first the dimensions of the component, then those of its type, then those of the base type of an alias */
} ResolvedType;

/* ---- components ---- */

/* sizes, leaves and value are set by components.c, in this order */
typedef struct Component {
  Name name;
  AstExpr binding; /* AST_NONE if none */
  const AstElement *element;
  Name scope;        /* where its expressions are looked up */
  uint32_t first;    /* position of its first variable */
  uint32_t resolved; /* index in resolved; NONE: a plain base type with only the component's own dimensions */
  Type type;
  uint8_t variability; /* Variability as declared or implied */
  uint8_t progress;    /* Progress of sizes and value */
  bool is_package;     /* a constant outside of the model: always replaced by its value */
  bool is_when;        /* assigned in a when */
  bool is_held;        /* assigned in a when of an algorithm */
  bool is_evaluated;   /* annotation(Evaluate = true), final, or constant: conditions on it are folded */
  bool is_structural;
  bool is_view;   /* a record whose fields are components of their own: it uses their leaves and values */
  bool has_value; /* `value` is known */
  const uint32_t *sizes;
  Value leaves; /* Exprs, once variables are added */
  Value value;  /* Exprs, constant */
} Component;

/* A value that is given from outside to a component, or to a scalar part of it. */
typedef struct NewBinding {
  Name name;
  AstExpr value;
  uint32_t component; /* NONE: a later value replaces it */
  uint32_t part;      /* where the part begins in the name; the name's end if it means the whole component */
} NewBinding;

/* ---- the elaboration ---- */

/* How GLOBAL loads a component. */
typedef enum LoadMode {
  LOAD_LEAVES, /* variables and parameters as they are */
  LOAD_VALUES, /* parameters by their values; everything else is unknown */
  LOAD_SHAPES, /* only sizes matter: unknown values are 0 */
} LoadMode;

typedef struct Elaboration Elaboration;
struct ClockOperator;
struct Transition;
typedef struct Compiler Compiler;

/* An equation that the current code has made. */
typedef struct RawEquation {
  Expr left, right;
  Span span;
  uint32_t clock; /* position of the Clock of the enclosing when + 1; 0: none */
  Name state;     /* the state of a state machine that contains it; 0: none */
  Name comment;
  BaseType base : 8;
  bool is_declared : 1; /* made from the binding of an input */
  bool is_made : 1;     /* made from a clock or a when: it may determine a discrete Real although it is in no when */
  bool is_integral : 1; /* for an energy section: the text has integral(left) over the run */
  bool
      is_unclocked : 1; /* for an algorithm that may leave a variable unchanged, where "unchanged" does not mean its previous() */
} RawEquation;
typedef VEC(RawEquation) EquationVec;
typedef VEC(Action) ActionVec;

struct Elaboration {
  Heap *heap;
  Names *names;
  const Ast *ast;
  Model *model;
  Dag *dag;
  Diags *diags;
  Diags quiet; /* for attempts whose failure is not an error */
  Arena arena;
  Name scope;          /* scope of the model being elaborated */
  bool is_base;        /* Base Modelica as written by a tool */
  bool compares_texts; /* there are comparisons of texts that are not known there */
  bool is_session;     /* values before the model is complete: an undeclared name may be declared later */

  VEC(NewBinding) modifications;
  VEC(AstStatement) final_statements; /* equations given in addition to the text */

  VEC(ClassEntry) classes;
  Map class_of_name; /* Name -> class */
  VEC(Component) components;
  IndexVec component_of_name; /* Name -> component + 1, of the model */
  Map package_constants;      /* Name -> component */
  VEC(ResolvedType) resolved;
  IndexVec class_of_routine;              /* routine -> class; NONE for algorithm sections */
  uint32_t routines_done;                 /* bodies compiled */
  uint32_t evaluations;                   /* nested evaluations of components and of sizes of records in progress */
  uint32_t state_select, assertion_level; /* enumerations, NONE until used */
  Map literals;                           /* enumeration and Name -> number of the literal, from 1 */

  Map stems; /* Name -> stem, see scope.c */
  VEC(struct Stem {
    Name name;
    uint32_t dimensions;
    uint32_t sizes[TYPE_MAX_DIMENSIONS];
  })
  stem_list;
  bool has_stems;
  Map embedded; /* Name -> embedded_list, see stem.c */
  VEC(struct Embedded {
    Name prefix;
    Name tail;
    const Ast *ast;
    AstExpr subscripts; /* a reference with these subscripts; AST_NONE: it cannot be read */
  })
  embedded_list;

  ExternalRights *rights; /* rights of external functions; NULL: none */

  /* running */
  Domain domain;
  Machine *machine;
  NumberContext number_context;
  Domain number_domain;
  Machine *number_machine;
  Machine *derivative_machine;           /* NULL until used */
  bool is_differentiating;               /* derivative_machine is running */
  VEC(struct InvertibleCall) invertible; /* see inverse.c */
  Map invertible_of;                     /* value of the call -> position */
  Routine *const *routine_list;
  const Record *record_list;
  LoadMode mode;
  bool marks_structural; /* parameters loaded by value become structural */
  bool in_when;
  bool is_initial;                 /* inside an initial section */
  Routine scratch;                 /* scratch of the compiler below */
  struct Compiler *compiler;       /* for code that is compiled and run immediately, one piece after another */
  VEC(struct LoopCode) loop_codes; /* codes of the for-equation that runs */
  Map loop_code_of;                /* expression of a statement, the left one of two -> its code */

  /* what is collected */
  EquationVec *equations; /* where equations go */
  Name comment;           /* comment of the statement that runs; 0 for none */
  AstEnergy energy;       /* the section that runs, if it is an energy section */
  EquationVec energies[ENERGY_COUNT];
  IndexVec multipliers; /* for the constraints: positions among the variables */
  ActionVec *actions;   /* where assertions and actions go */
  Expr guard;           /* path condition of if-equations; EXPR_NONE: always */
  When *when;           /* the when whose branch runs; NULL outside */
  bool is_clocked;      /* the algorithm section that runs has a clock */
  uint32_t clock;       /* position of the Clock of the enclosing when + 1; 0: none */
  struct Algorithm *algorithm;
  uint32_t depth;    /* of nested blocks */
  uint32_t sections; /* algorithm sections so far */
  Name branch;       /* mark of the enclosing branch of a when (WhenBranch); 0: not needed so far */
  uint32_t branches; /* marks so far */
  uint32_t texts;    /* routines of text_call.c so far */
  uint32_t failures; /* runs without a result; for each there is an error in the diagnostics */
  Map missing;       /* names of undefined functions that were warned about */
  Map instances;     /* hash of routine and sizes -> function of the model */
  struct ClockUses {
    struct ClockOperator *data;
    uint32_t count, capacity;
  } clock_operators; /* see clock.h */
  Map clock_operator_of;
  Map clock_names; /* label -> the last number appended to it */

  /* state machines, see state_machine.h */
  Name state; /* state of the section that runs; 0: none */
  struct Transitions {
    struct Transition *data;
    uint32_t count, capacity;
  } transitions;
  VEC(AstLabel) initial_states;
  struct Transition *transition; /* the transition whose condition runs; NULL: none */
  Map state_resets;              /* variable -> position of the Boolean that resets it */
};

enum { BLOCK_DEPTH_LIMIT = 200, RECORD_DEPTH_LIMIT = 32 };

Elaboration elaboration_make(Heap *heap, Names *names, const Ast *ast, Model *model, Diags *diags);

/* ---- diagnostics ---- */

/* The code of a message, from the words that all messages of its kind share. */
DiagCode input_code(const char *format);
__attribute__((format(printf, 3, 4))) Diag *input_error(Elaboration *el, Span span, const char *format, ...);

/* ---- classes.c ---- */

/* Collects all classes of the file; returns the class to elaborate, NULL after an error. */
const ClassEntry *classes_collect(Elaboration *el, const char *class_name);

/* Enters a class whose label is its full name; returns its number. */
uint32_t class_define(Elaboration *el, const AstClass *ast);

/* The class that a path means, looked up from `scope` outward; NULL if there is none. */
ClassEntry *class_find(Elaboration *el, Name scope, AstPath path);
ClassEntry *class_find_name(Elaboration *el, Name scope, Name name);
/* The scope that encloses a class's scope, 0 at the top. Dots inside a quoted name do not count: 'A.B.f' is in no scope A.B. */
Name class_outer(const Elaboration *el, Name scope);

/* Follows aliases to a base type. false after an error. */
bool type_resolve(Elaboration *el, Name scope, const AstType *type, ResolvedType *out);

/* Definitions in the model's lists, made on first use; false after an error. */
bool record_define(Elaboration *el, ClassEntry *entry, Span span);
bool enumeration_define(Elaboration *el, ClassEntry *entry);
/* The name of the class as seen from the model: without the packages that contain both. */
Name class_label(Elaboration *el, const ClassEntry *entry);
uint32_t enumeration_builtin(Elaboration *el, bool is_level);

/* Number of literal `name` of the enumeration, 0 if it has none. */
uint32_t enumeration_literal(const Elaboration *el, uint32_t enumeration, Name name);

/* ---- types.c ---- */

/* The type in words: "Real[2,3 dimensions]" and so on; owned by the arena. */
const char *type_text(Elaboration *el, Type type);
/* May a value of type `from` be used where `to` is expected (Integer for Real, records with the same fields)? */
bool type_fits(const Elaboration *el, Type to, Type from);
bool type_is_number(Type type); /* Real or Integer */
/* The type that holds both; TYPE_NOTHING if there is none. */
Type type_join(const Elaboration *el, Type a, Type b);
Type type_nothing(void);

/* Functions and operators that the language defines and that are not classes. */
typedef enum IntrinsicKind { INTRINSIC_SCALAR, INTRINSIC_ARRAY, INTRINSIC_SPECIAL } IntrinsicKind;
typedef enum Rule {
  RULE_REAL,   /* Real of numbers */
  RULE_NUMBER, /* Integer of Integers, else Real */
  RULE_INTEGER,
  RULE_KEEP, /* the type of argument number `keep` */
  RULE_BOOLEAN,
  RULE_LOGIC, /* Boolean of Booleans */
  RULE_ANY_BOOLEAN,
  RULE_SAMPLE,   /* Boolean for start and interval, else the type of the first argument */
  RULE_VALUE,    /* like RULE_KEEP, but not a Clock */
  RULE_RATE,     /* like RULE_KEEP; the other arguments are Integers */
  RULE_OF_CLOCK, /* the result has the clock of the argument, or of the equation */
  RULE_CLOCK,
  RULE_SIZE,
  RULE_SCALAR,
  RULE_VECTOR,
  RULE_MATRIX,
  RULE_PROMOTE,
  RULE_TRANSPOSE,
  RULE_OUTER_PRODUCT,
  RULE_SQUARE,
  RULE_CROSS,
  RULE_SKEW,
  RULE_IDENTITY,
  RULE_DIAGONAL,
  RULE_ZEROS,
  RULE_FILL,
  RULE_LINSPACE,
  RULE_CAT,
  RULE_ARRAY,
  RULE_EXTREME,
  RULE_REDUCE,
  RULE_TEXT,
  RULE_ORDINAL,
  RULE_LENGTH,
  RULE_NORMALIZE,
  RULE_TRANSPORT,
} Rule;

enum { ANY_NUMBER = 255 };

typedef struct Intrinsic {
  const char *name;
  IntrinsicKind kind;
  uint32_t code;        /* Op, Builtin or Special */
  uint8_t fewest, most; /* ANY_NUMBER: no limit */
  Rule rule;
  uint8_t keep;
  const char *inputs; /* names of the arguments, separated by commas, or NULL */
} Intrinsic;

/* By name; NULL if there is none. `is_plain`: written without quotes. */
const Intrinsic *intrinsic_find(const char *name);
/* The name of row `index`; NULL after the last. */
const char *intrinsic_name(uint32_t index);
/* The operator that these arguments select among those with the same name. */
Special special_variant(Special special, const Type *arguments, uint32_t count);
/* Does the name belong to an operator that is known but not supported? For a message. */
bool intrinsic_is_refused(const char *name);
/* The type of the result for these arguments. Reports a type error and returns TYPE_NOTHING. promote_to: value of the literal
 * argument of promote, or -1. `spans`: those of the arguments. */
Type intrinsic_type(Elaboration *el, Diags *diags, const Intrinsic *intrinsic, const Type *arguments, uint32_t count,
                    int64_t promote_to, const Span *spans, Span span);

/* ---- scope.c ---- */

uint32_t component_find(const Elaboration *el, Name name); /* NONE if there is none */

/* What the component stands for in the present mode: its leaves, or its value if that can no longer change. NULL: it is not
 * known. */
const Value *component_load(const Elaboration *el, Component *component);

/* If a size is given by a type, Boolean or an enumeration: the number of its values. false if it is not a type. */
bool type_size(Elaboration *el, AstExpr e, Name scope, uint32_t *size);
void component_register(Elaboration *el, Name name, uint32_t component);
/* A constant of a package, looked up from `scope` outward. */
uint32_t package_constant_find(Elaboration *el, Name scope, Name name);
/* The most similar name among components (and classes); 0 if none is close. */
Name suggest_component(Elaboration *el, Name name);
Name suggest_function(Elaboration *el, const char *name);

/* ---- stem.c ---- */

/* The stem of components declared one by one (a[1], a[2], or a.x, a.y); NULL if there is none. */
const struct Stem *stem_find(Elaboration *el, Name name);
/* Does the name contain subscripts that are not numbers: a['i'].x? */
bool stem_is_embedded(Elaboration *el, Name name);
/* Appends the components that a stem, or a name with subscripts inside, may mean. O(all names). */
void stem_components(Elaboration *el, Name name, IndexVec *out);

/* ---- compile.c ---- */

typedef struct ScopeName {
  Name name;
  uint32_t slot; /* NONE: a constant */
  Type type;
  double value; /* of a constant */
  bool is_iterator;
} ScopeName;
typedef VEC(ScopeName) ScopeNameVec;

struct Compiler {
  Elaboration *el;
  Routine *routine;
  Diags *diags;
  Name scope;
  bool is_function;
  bool tolerates_missing; /* an undefined function is an error only when it is run */
  ScopeNameVec names;     /* innermost last */
  Map slots;              /* component -> slot, of algorithm sections */
  bool has_slots;
  uint32_t time_slot;    /* time as an input; 0: none */
  uint32_t wants_leaves; /* inside pre and the like: variables, not the values that an algorithm has assigned so far */
  VEC(Type) types;       /* types of the values on the stack */
  VEC(Span) spans;       /* scratch: spans of the arguments of a call */
  VEC(struct Task) tasks;
  IndexVec patches;
  VEC(struct EndPlace) ends;
  IndexVec assigned; /* slots assigned so far, in order */
  uint32_t errors;
  IndexVec iterated; /* pairs: a constant of the code, and the iterator of for-equations (in names) whose value it is */
  bool is_decided;   /* values decided which part of an expression is compiled */
  uint32_t loops;    /* open loops */
  uint32_t depth;    /* nesting of conditions evaluated within conditions */
  uint32_t blocks;   /* of nested statements */
};

Compiler compiler_make(Elaboration *el, Routine *routine, Diags *diags, Name scope);
void compiler_free(Compiler *compiler);
void routine_free(Heap *heap, Routine *routine);

/* The elaboration's own compiler, emptied. */
Compiler *compiler_fresh(Elaboration *el);

/* Emits code that pushes the value of the expression; its type is left on compiler->types and returned. After an error (counted in
 * compiler->errors) the type is TYPE_NOTHING. `expected` guides the assembly of records; TYPE_NOTHING: any type. */
Type compile_expression(Compiler *compiler, AstExpr e, Type expected);

/* With --strict: reports a value of this discrete type that a function of continuous arguments computes. */
void discrete_check(Compiler *compiler, Type type, AstExpr e);

/* A call with several outputs (`wanted` of them, at most all); their types are on compiler->types. Returns the number of outputs
 * pushed. `e` must be an AST_CALL of a function. */
uint32_t compile_call_outputs(Compiler *compiler, AstExpr e, uint32_t wanted);

/* Always false. */
__attribute__((format(printf, 3, 4))) bool compile_error(Compiler *compiler, Span span, const char *format, ...);
uint32_t compile_local(Compiler *compiler, Name name, Type type, Span span);
void compile_emit(Compiler *compiler, Code code, uint32_t a, uint32_t b, Span span);
Type pop_type(Compiler *compiler);
void push_type(Compiler *compiler, Type type);
uint32_t compile_list(Compiler *compiler, const uint32_t *items, uint32_t count);
/* Code for the range of an iterator, which may be a type. */
Type compile_range(Compiler *compiler, AstExpr e);

/* Checks the type of the value on top against the expected type; an error message names `what`. */
bool compile_expect(Compiler *compiler, Type expected, Type found, Span span, const char *what);

/* Reports the first scalar that a function reads or returns but never assigns. O(reads times instructions). */
void unassigned_report(Compiler *compiler);

/* Stores into the left side of an assignment: pushes the subscripts and emits CODE_STORE. false after an error. */
bool compile_store(Compiler *compiler, AstExpr target, Type value);

/* ---- statement.c ---- */
void compile_statements(Compiler *compiler, const AstStatement *statements, uint32_t count);

/* ---- routine.c ---- */

/* Number of the routine for a function class; its body is compiled later (routines_finish). NONE after an error. */
uint32_t routine_of(Elaboration *el, ClassEntry *entry);

/* The type of routine `number` as a value, with no inputs given. Given inputs are added as fields of the record. */
Type function_type(Elaboration *el, uint32_t number);
/* Compiles the bodies of all routines referred to so far. */
void routines_finish(Elaboration *el);

/* Compiles only the functions that the code can reach: other functions may need the value of the component that is being
 * evaluated. */
void routines_finish_for(Elaboration *el, const Routine *code);
/* Compiles the functions within the model's reach that are never called, to report their errors. */
void routines_check_uncalled(Elaboration *el);

/* ---- derivative.c ---- */

/* Declares the slots of the routine of `function g = der(f, x)`, and adds its code once the code of f exists. */
bool derivative_declare(Elaboration *el, ClassEntry *entry, Routine *routine);
void derivative_compile(Elaboration *el, Routine *routine);
/* The arguments with respect to which `g` differentiates, with their positions in dag_call; returns their number. */
uint32_t derivative_positions(const Elaboration *el, const Routine *routine, const Value *inputs, uint32_t *positions);
/* Fills outputs, whose sizes are set, with the derivatives; false if f cannot be inlined. */
bool derivative_inline(Elaboration *el, const Routine *routine, const Value *inputs, Value *outputs);

/* ---- inverse.c ---- */

/* Compiles the inverses that the annotation `inverse` of a function gives. Names are looked up from `scope`. */
void inverse_read(Elaboration *el, Routine *routine, Name scope, const AstModification *annotation);
/* Records the slots of a call of a function with inverses, after the call has returned. */
void inverse_note(Elaboration *el, const Routine *routine, const Value *slots);
/* Appends the inversions of an equation that is about to be added to the model. */
void inverse_use(Elaboration *el, Expr left, Expr right);

/* ---- symbolic.c ---- */

void symbolic_start(Elaboration *el);
/* Fills outputs, whose sizes are set, with the results of a call: numbers if all inputs are known, otherwise calls of a function of
 * the model. False after an error. */
bool call_routine(Elaboration *el, const Routine *routine, const Value *inputs, Value *outputs);
/* Runs the code in the mode given. Results are at machine_result. */
ExecuteStatus run_code(Elaboration *el, Routine *routine, LoadMode mode, Diags *diags);
static inline const Expr *value_exprs(const Value *value) { return (const Expr *)(const void *)value->data; }
bool expr_is_known(const Elaboration *el, Expr e);

/* ---- text_call.c ---- */

/* A routine that puts together a text that depends on values of the run, and its arguments. NULL: the text is known, or is a value. */
Routine *text_routine(Elaboration *el, Expr text, Span span, ExprVec *parts);

/* ---- components.c ---- */

/* Declares the components of the model; evaluates their sizes and the values of parameters, in order of dependencies; adds them as
 * variables. */
void components_declare(Elaboration *el, const ClassEntry *entry);
void components_evaluate(Elaboration *el);
void components_add(Elaboration *el);
/* Declares one component that has not been declared yet. */
void component_declare(Elaboration *el, const AstElement *element, Name scope);
/* Evaluates one component and everything it depends on. */
void component_evaluate(Elaboration *el, uint32_t component);
/* Appends the components that the expression loads. */
void expression_dependencies(Elaboration *el, AstExpr e, Name scope, IndexVec *list);
/* The component of field number `field` of a view; NONE if it is missing. */
uint32_t view_member(Elaboration *el, const Component *view, uint32_t field);
/* Constants of packages: components that are always replaced by their values. */
void component_declare_constant(Elaboration *el, const AstElement *element, Name name, Name scope);
/* Marks the parameters from which the values of structural parameters were computed. */
void components_spread_structural(Elaboration *el);
bool component_is_parameter(const Component *component);
/* Takes the number or Boolean that the component is bound to as its value. false: it is bound to something else. */
bool component_literal(Elaboration *el, Component *component);
/* The new value of a scalar part of a component, and where it goes in `value`, which has the component's shape. NULL if there is no
 * such part, or after an error. */
char *modified_part(Elaboration *el, const NewBinding *modification, const Value *value, Expr *e);

/* Declares a Real variable that the text does not declare, of `count` elements; 0: a scalar. */
void component_add_derived(Elaboration *el, Name name, BaseType base, uint32_t count, Span span);

/* ---- attributes.c ---- */

/* Attributes of all variables, bindings of parameters, declaration equations. */
void components_bind(Elaboration *el);
void experiment_read(Elaboration *el, const AstModification *annotation);

/* Evaluates an expression at compile time; with EXECUTE_OK, the value is valid until the next run. */
ExecuteStatus evaluate_now(Elaboration *el, AstExpr e, Name scope, Type expected, LoadMode mode, Diags *diags,
                           Value *out);

/* ---- equations.c ---- */

/* Equation and algorithm sections of the model, in order. */
void equations_elaborate(Elaboration *el, const AstClass *ast);
/* Marks the components that whens assign; they become discrete. */
void when_mark(Elaboration *el, const AstClass *ast);
/* left = right, element by element, into el->equations. */
bool equations_add(Elaboration *el, const Value *left, const Value *right, Span span);
uint32_t variable_of_leaf(const Elaboration *el, Expr leaf); /* NONE if it is not a variable's leaf */
/* Reports an Integer variable that a Real would determine. */
bool integer_is_real(Elaboration *el, uint32_t position, BaseType base, Span span);

/* ---- energy.c ---- */

/* Parses final equations that are given in addition to the text. Errors go to diags. */
void final_read(Elaboration *el, Ast *ast, const char *text);

/* Reports energy sections, which the language standard does not have, as errors. */
void energy_refuse(Elaboration *el, const AstClass *ast);
/* Declares a variable for each collected constraint. */
void multipliers_declare(Elaboration *el);
/* Derives the equations from the collected energies, if there are any. */
void energy_elaborate(Elaboration *el, const AstClass *ast, bool has_signals);

/* ---- text.c ---- */

bool expr_is_text(const Elaboration *el, Expr e);

/* Replaces variables of type String by their texts if equations give them known texts; reports other comparisons of texts. */
void texts_replace(Elaboration *el);

/* ---- classify.c ---- */

/* Adds the collected equations to the model: continuous ones, and those that determine a discrete variable. */
void equations_classify(Elaboration *el, const EquationVec *equations);

/* ---- free_start.c ---- */

/* Turns fixed start values that other initial equations determine into initial equations. */
void starts_free(Elaboration *el);

/* Is there a call that changes something outside, or depends on such calls, in this part of the code? */
bool symbolic_calls_act(const Elaboration *el, const Routine *code, Span span);

/* ---- algorithm.c ---- */

void algorithm_elaborate(Elaboration *el, const AstSection *section);

/* Warns of a call without a result in this code: except for assertions, its effects happen only in whens and initial
 * sections (`is_made`). */
void algorithm_warn_of_call(Elaboration *el, const Routine *code, const AstStatement *statement, bool is_made);
