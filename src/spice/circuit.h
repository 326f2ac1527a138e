/* circuit: the contents of a netlist after its subcircuits are inserted: nodes and branches with expressions over node voltages and
 * branch currents, in the graph of the model made from them.
 *
 * Invariant: node 0 is ground. The variable of node n is v(n), in the order of first mention. A branch with its own current
 * (voltage sources, inductors) has the variable i(name). All currents flow from `from` through the branch to `to`. Errors are in
 * diags; a function that returns EXPR_NONE or false has reported one. */
#pragma once

#include "spice/spice.h"

enum { GROUND = 0 };

typedef struct CircuitNode {
  Name name;         /* as SPICE writes it: out, x1.out */
  uint32_t variable; /* v(name); MAP_NONE for ground */
  uint32_t degree;   /* number of branches */
  uint32_t
      outer; /* for an inner node of a device: the outer node of the device to which it belongs; for other nodes: the node itself */
  const Card *card; /* card of the first mention */
} CircuitNode;

typedef enum BranchKind {
  BRANCH_CAPACITOR, /* charge, or capacitance */
  BRANCH_VOLTAGE,   /* voltage */
  BRANCH_RESISTIVE, /* current, as a function of the voltages at its own ends */
  BRANCH_INDUCTOR,  /* flux, or inductance */
  BRANCH_CURRENT,   /* current */
} BranchKind;

/* A switch that closes above one value of its input and opens below another; between them it keeps its state. */
typedef struct Hysteresis {
  Expr input, high, low;
  Expr closed, open; /* conductances */
  bool starts_closed;
} Hysteresis;

typedef struct Branch {
  BranchKind kind;
  uint32_t from, to;
  Name name; /* of the element: c1, x1.d2 */
  const Card *card;
  uint32_t variable; /* its current; MAP_NONE: it has none */
  Expr value;        /* current or voltage; charge or flux, unless is_slope */
  bool is_slope;     /* value is a capacitance or inductance: it multiplies the derivative of the voltage or current */
  bool has_junction; /* of a device */
  bool is_independent; /* for a source: it depends only on time and parameters */
  Expr still; /* for a source: its value for operating points that do not start a run; EXPR_NONE: `value` at 0 */
  const Hysteresis *hysteresis; /* hysteresis of a switch, whose `value` holds at the operating point; NULL: none */
  Expr given;                   /* for a capacitor or inductor: IC=; EXPR_NONE: none */
} Branch;
typedef VEC(Branch) BranchVec;

/* K: mutual inductance. */
typedef struct Coupling {
  Name first, second; /* inductors */
  Expr factor;
  const Card *card;
} Coupling;

/* A piece of a card: bytes [begin, end). `=` is a field; the contents of braces or quotes are one field. */
typedef struct CardField {
  uint32_t begin, end;
  bool is_used;
} CardField;

/* The pieces of a card during one reading: an element of a subcircuit is read once for each instance. */
typedef struct Fields {
  const Card *card;
  VEC(CardField) list;
  bool is_source; /* values are read as in a behavioural source */
} Fields;

/* .model: its type and the place of its parameters. */
typedef struct ModelCard {
  const Card *card;
  Name name;
  const char *type;
  Fields *fields;
  uint32_t first;   /* field of the first parameter */
  bool was_checked; /* parameters without a meaning here were reported */
} ModelCard;

/* name = expression, evaluated when it is first needed. */
typedef struct Definition {
  Name name;
  const Card *card;
  uint32_t at, end; /* the bytes of the expression */
  const struct Scope *scope;
  Expr value; /* once evaluated */
  enum { DEFINITION_OPEN, DEFINITION_BUSY, DEFINITION_DONE, DEFINITION_FAILED } state;
  bool is_global; /* from a .param of the netlist itself: a parameter of the model */
} Definition;

/* .func name(arguments) expression */
typedef struct FunctionCard {
  const Card *card;
  VEC(Name) arguments;
  uint32_t at, end; /* the bytes of the expression */
} FunctionCard;

/* The netlist itself, or one .subckt as written. */
typedef struct Block {
  struct Block *parent;
  Name name;
  const Card *card; /* .subckt */
  VEC(Name) ports;
  VEC(uint32_t) elements; /* cards */
  VEC(Definition) parameters;
  uint32_t
      formal; /* how many parameters at the beginning of the list are on .subckt, so that an instance may set them */
  VEC(FunctionCard) functions;
  VEC(ModelCard) models;
  VEC(struct Block *) blocks;
  Map function_of, model_of, block_of; /* by name */
} Block;

/* An instance of a block: the meaning of its names. */
typedef struct Scope {
  const struct Scope
      *parent; /* the scope of the block that contains its definition; for a function or device: where it was written */
  const Block *block; /* NULL: for a function or device */
  const char *prefix; /* "" or "x1." */
  Map nodes;          /* Name -> node, of ports */
  VEC(Definition) definitions;
  Map definition_of;
  Map given;       /* for a device: names of the parameters that were given */
  double multiple; /* how many are in parallel, by m= of the enclosing instances */
  uint32_t depth;
} Scope;

/* .ic and .nodeset: v(node) = value. */
typedef struct NodeValue {
  uint32_t node;
  Expr value;
  const Card *card;
} NodeValue;
typedef VEC(NodeValue) NodeValueVec;

typedef struct CircuitOptions {
  double gmin, temperature, nominal_temperature, reltol; /* degrees Celsius */
  double channel_length, channel_width, drain_area, source_area;
} CircuitOptions;

/* A source that .dc moves from `start` to `stop`. */
typedef struct Sweep {
  Name source;
  double start, stop, step;
} Sweep;

typedef struct Circuit {
  Heap *heap;
  Arena *arena;
  Names *names;
  Diags *diags;
  Dag *dag;
  Model *model;
  const SpiceOptions *asked;
  Deck deck;
  Block *top;
  Scope *scope;
  CircuitOptions options;
  VEC(double) values; /* values of the model's parameters, by index */
  VEC(CircuitNode) nodes;
  Map node_of; /* full name -> node */
  BranchVec branches;
  Map branch_of;          /* element's full name -> branch that has a current */
  Map element_of;         /* full name -> 1: there is an element of this name */
  VEC(uint32_t) currents; /* requested branch currents become variables */
  VEC(const Card *) current_cards;
  VEC(Coupling) couplings;
  VEC(Equation) relations; /* further equations, which the operating point has, too; without residuals */
  VEC(Action) warnings;    /* assertions of devices */
  NodeValueVec initial, guesses;
  AnalysisKind analysis; /* ANALYSIS_NONE: the equations are those of a run over time */
  const Card *analysis_card,
      *missing_card; /* missing: the first card that requests an analysis that daedal does not have */
  double step, stop;
  bool uses_initial; /* uic */
  SpiceModel *made;
  Sweep sweeps[2]; /* for .dc: the second source advances one step whenever the first one has taken all of its values */
  uint32_t sweep_count;
} Circuit;

/* The number of values that the source takes. */
double sweep_points(const Sweep *sweep);

/* Are the equations those of a run over time? */
static inline bool is_run_over_time(const Circuit *circuit) {
  return circuit->analysis == ANALYSIS_NONE || circuit->analysis == ANALYSIS_TRANSIENT;
}

/* The time of waveforms and expressions. While .dc sweeps a source it is 0, and the time of the run is how far the source has
 * moved. */
static inline Expr circuit_time(const Circuit *circuit) {
  return circuit->analysis == ANALYSIS_SWEEP ? dag_constant(circuit->dag, 0) : dag_time(circuit->dag);
}

/* ---- fields (field.c) ---- */

Fields fields_split(Circuit *circuit, const Card *card);

/* Is field k this word? field_accept marks it as used then. Beyond the last field there is none. */
bool field_is(const Fields *fields, uint32_t k, const char *word);
bool field_accept(Fields *fields, uint32_t k, const char *word);

/* Does `=` follow field k? */
bool field_assigns(const Fields *fields, uint32_t k);

/* The name in field k, which is then marked as used; field_peek does not mark it. */
Name field_name(Circuit *circuit, Fields *fields, uint32_t k);
Name field_peek(Circuit *circuit, const Fields *fields, uint32_t k);

/* The field after `word =`, or MAP_NONE; the search begins at field `first`. Marks word and `=`. */
uint32_t field_after(Fields *fields, uint32_t first, const char *word);

/* The value of field k, up to a blank or comma outside of parentheses; after `=`, including its opening parentheses. field_item
 * reads the value in a list, where parentheses before it are separators. */
Expr field_value(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k);
Expr field_item(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k);

/* The expression from field k to the next `name =` or to the end of the card. */
Expr field_rest(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k);

/* The value of field k, which must be a number. From then on the structure depends on the parameters in it. */
bool field_constant(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k, double *value);

/* Checks that every field of the card was used; otherwise an error names the first that was not. */
bool fields_check(Circuit *circuit, const Fields *fields, const char *name);

/* ---- expressions (expression.c) ---- */

typedef struct Cursor {
  const Card *card;
  uint32_t at;
  uint32_t end; /* reading stops here; 0: the card's end */
} Cursor;

/* A number with its suffix at the cursor. */
bool read_number(Cursor *cursor, double *value);

/* Reads an expression up to its end, without the braces and quotes around it. */
Expr read_expression(Circuit *circuit, const Scope *scope, Cursor *cursor);

/* A truth value is the number 1 or 0 in SPICE. This converts a number to a condition. */
Expr as_condition(Dag *dag, Expr e);

/* Reads these bytes of a card, all of them, as the expression of a behavioural source or of a parameter. */
Expr read_range(Circuit *circuit, const Scope *scope, const Card *card, uint32_t begin, uint32_t end, bool is_source);

/* Piecewise linear through the points (x1, y1), (x2, y2), ... in a list of `count` numbers; constant outside. */
Expr table_value(Dag *dag, Expr input, const Expr *points, uint32_t count);

/* Its value, which must be a number. From then on the structure depends on the parameters in it. */
bool constant_value(Circuit *circuit, const Card *card, Expr e, double *value);

/* The value of an expression with the current parameters; NAN: it has none. */
double value_now(Circuit *circuit, Expr e);

/* The value of an expression at time 0. */
double value_at_start(Circuit *circuit, Expr e);

/* ---- names (scope.c) ---- */

/* Reads the blocks, models, functions and parameters of the deck; elements are read later. */
bool read_blocks(Circuit *circuit);
/* A scope within another one; scope_new keeps it as long as the circuit. */
Scope scope_make(const Circuit *circuit, const Scope *parent, const Block *block, const char *prefix);
Scope *scope_new(Circuit *circuit, const Scope *parent, const Block *block, const char *prefix);
void scope_define(Circuit *circuit, Scope *scope, Definition definition);

/* The value of a parameter; EXPR_NONE and *found false if there is none of that name. */
Expr scope_parameter(Circuit *circuit, const Scope *scope, Name name, bool *found);
const FunctionCard *scope_function(const Scope *scope, Name name, const Scope **owner);
ModelCard *scope_model(const Scope *scope, Name name, const Scope **owner);
const Block *scope_block(const Scope *scope, Name name, const Scope **owner);
uint32_t scope_node(Circuit *circuit, const Scope *scope, const Card *card, Name name);

/* Adds a parameter of this name to the model, if the name is free; otherwise returns the value itself. */
Expr add_parameter(Circuit *circuit, Name name, Expr binding, const Card *card, const char *unit);

/* ---- nodes and branches (circuit.c) ---- */

uint32_t circuit_node(Circuit *circuit, const char *name, const Card *card);
Expr node_voltage(Circuit *circuit, uint32_t node);
Expr voltage_between(Circuit *circuit, uint32_t from, uint32_t to);

/* The variable i(name), made when it is first needed. */
uint32_t circuit_current(Circuit *circuit, const char *name, const Card *card);
uint32_t add_variable(Circuit *circuit, const char *name, const char *unit, Span span);
void add_relations(const Circuit *circuit, Model *model);

/* Adds the assertions of devices to the model that is run. */
void add_warnings(const Circuit *circuit, Model *model);
void add_equation(Model *model, Expr left, Expr right, Span span);
void add_branch(Circuit *circuit, Branch branch);

/* ---- elements (element.c), waveforms (waveform.c), devices (device.c) ---- */

bool read_elements(Circuit *circuit);

/* The waveform at field k; *value is EXPR_NONE after an error. false: there is none. */
bool read_waveform(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k, Expr *value);

/* A device of this element letter: nodes and model as its table says (device.c). */
bool read_device(Circuit *circuit, const Scope *scope, Fields *fields, const char *name);

/* Warns about a parameter of a model that has no meaning here, with a suggestion (NULL: none). */
void warn_of_parameter(Circuit *circuit, const ModelCard *model, const char *word, const char *nearest);

/* Reports a parameter of a model that has no value. Returns false. */
bool refuse_parameter(Circuit *circuit, const ModelCard *model, const char *word);
