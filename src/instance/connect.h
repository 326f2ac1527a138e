/* connect: shared by the files about connections.
 *
 * A variable of a connector has one member for each of its elements, over the dimensions of all instances from the model down to
 * it: member first + element. Each member has two ends: inside (seen from the model that contains the connector's component) and
 * outside (seen from the component itself). Connection sets are sets of ends; the number of an end is 2 * member + side. */
#pragma once

#include "instance/connect_graph.h"
#include "instance/connections.h"

typedef enum ConnectSide { SIDE_INSIDE, SIDE_OUTSIDE } ConnectSide;

/* A connector, by itself or inside another one. */
typedef struct ConnectConnector {
  Instance *instance;
  uint32_t first;                                            /* index of its first element's cardinality */
  uint32_t count;                                            /* elements, over all dimensions */
  bool is_inner;                                             /* it is inside another connector */
  uint32_t variables, variable_count, records, record_count; /* ranges of its contents, if it is not inner */
} ConnectConnector;

/* A variable in a connector. */
typedef struct ConnectVariable {
  Instance *instance;
  Instance *connector; /* the innermost connector that contains it */
  uint32_t first;      /* its first member */
  uint32_t count;      /* elements, over all dimensions */
} ConnectVariable;

/* An overdetermined record in a connector: each element is one node of the graph. A type that is an array (type Orientation =
 * Real[3, 3] with a constraint) counts as a record, too; its own dimensions are not counted. */
typedef struct ConnectRecord {
  Instance *instance;
  Instance *constraint; /* its function equalityConstraint */
  uint32_t first, count;
  uint32_t dimensions, width; /* how many of the last dimensions belong to one record, and the product of their sizes */
} ConnectRecord;

/* Matching variables of two connectors. Each element of the connectors has `inner` elements of the variable. */
typedef struct ConnectPair {
  uint32_t left, right; /* indices of the variables */
  uint32_t inner;
  uint32_t record;     /* the pair of records, counted within the match; CONNECT_NONE: none */
  uint32_t per_record; /* elements in one such record */
} ConnectPair;

/* Matching overdetermined records of two connectors. */
typedef struct ConnectRecordPair {
  uint32_t left, right; /* indices of the records */
  uint32_t inner;
} ConnectRecordPair;

/* Two connectors that are connected somewhere, and their matching parts. */
typedef struct ConnectMatch {
  Instance *left, *right;
  uint32_t pairs, pair_count;     /* range in the list of pairs */
  uint32_t records, record_count; /* range in the list of pairs of records */
  bool fits;
} ConnectMatch;

/* A connect clause and the instance that contains it. */
typedef struct ConnectSource {
  const ConnectClause *clause;
  const Instance *instance;
} ConnectSource;

/* One of the connectors that an argument of a connect clause names. */
typedef struct ConnectTarget {
  Instance *instance; /* NULL: absent */
  uint32_t element;   /* its number over the dimensions that `instance` does not share with the clause's instance */
  uint32_t own;       /* product of the sizes of `instance` that the clause's instance does not share */
  uint32_t shared;    /* product of the sizes of the clause's instance that `instance` does not share */
} ConnectTarget;

/* The meaning of one argument of a connect clause. */
typedef struct ConnectReference {
  Instance *instance; /* instance of the first target that exists; NULL: none does, or an error was reported */
  ConnectSide side;
  VEC(ConnectTarget) targets; /* targets in the order of their subscripts */
  IndexVec shape;             /* sizes of the dimensions without a scalar subscript; their product is targets.count */
} ConnectReference;

/* A subscript that depends on iterators: it grows by slopes[k] if iterator k grows by 1, and the element's number by `stride` times
 * as much. */
typedef struct ConnectSubscript {
  int64_t value, *slopes;
  uint32_t size, stride;
} ConnectSubscript;

typedef struct ConnectArgument {
  ConnectReference reference;
  VEC(ConnectSubscript) subscripts;
} ConnectArgument;

/* A statement in a loop, and the last of its clauses. */
typedef struct ConnectLoop {
  ConnectSource source;
  ConnectArgument arguments[2];
} ConnectLoop;

/* A link from one element of a connector to an element of another. */
typedef struct ConnectLink {
  uint32_t match, source;
  uint32_t left, right; /* elements of the connectors */
  uint32_t edges;       /* its first edge of the graph */
  uint8_t left_side, right_side;
} ConnectLink;

/* The variable that replaces an operator on an argument. */
typedef struct ConnectQuery {
  ConnectOperator operation;
  Instance *argument;
  Name name;
  Span span;
} ConnectQuery;

struct Connections {
  Flat *flat;
  Tree *tree;
  Heap *heap;
  VEC(ConnectConnector) connectors;
  Map connector_of; /* by instance */
  IndexVec cardinality;
  VEC(ConnectVariable) variables;
  Map variable_of; /* by instance */
  uint32_t member_count;
  VEC(ConnectRecord) records;
  Map record_of;
  VEC(ConnectSource) sources;
  VEC(ConnectMatch) matches;
  Map match_of; /* by two connectors */
  VEC(ConnectPair) pairs;
  VEC(ConnectRecordPair) record_pairs;
  VEC(ConnectLink) links;
  VEC(ConnectLoop) loops;
  Map loop_of; /* by statement */
  ConnectGraph graph;
  IndexVec edge_links; /* per edge: its link; CONNECT_NONE: the edge is a branch */
  ConnectSets sets;    /* of ends */
  uint32_t *source_of; /* per end: a clause that has put it into its set */
  bool *is_idle; /* per set: it contains only elements of expandable connectors, with nothing else connected to them */
  VEC(ConnectQuery) queries;
  Map query_of;
};

static inline uint32_t connect_end(uint32_t member, ConnectSide side) { return 2 * member + (uint32_t)side; }
static inline uint32_t end_member(uint32_t end) { return end / 2; }
static inline ConnectSide end_side(uint32_t end) { return (ConnectSide)(end % 2); }
static inline uint64_t instance_key(const Instance *instance) { return (uint64_t)(uintptr_t)instance; }

/* ---- requested operators (connect_query.c) ---- */

/* The connections of a tree, created on first use. */
Connections *connections_of(Tree *tree);

const char *connect_operator_word(ConnectOperator operation);

/* ---- elements (connect_element.c) ---- */

/* Appends the sizes of all dimensions from the model down to the instance. */
void list_sizes(Connections *connections, const Instance *instance, IndexVec *sizes);

/* 1-based subscripts of an element that is counted over all dimensions. */
void split_element(const IndexVec *sizes, uint32_t element, uint32_t *subscripts);

/* The element of the variable with this name and the dimensions of the instance. */
AstExpr element_reference(Connections *connections, const Instance *instance, Name name, uint32_t element, Span span);

/* An element of an overdetermined record, as a whole. */
AstExpr record_reference(Connections *connections, const ConnectRecord *record, uint32_t element, Span span);

/* ---- expandable connectors (connect_expand.c) ---- */

/* Adds the elements that connections require to expandable connectors. */
void connect_expand(Connections *connections);

/* ---- registering (connect_register.c) ---- */

/* Lists connectors, their variables and overdetermined records. */
void connect_register(Connections *connections);

/* The variable that contains a member. O(log variables). */
const ConnectVariable *member_variable(const Connections *connections, uint32_t member);

/* The overdetermined record of a node, found like member_variable. */
const ConnectRecord *node_record(const Connections *connections, uint32_t node);

/* The function equalityConstraint of a record or type; NULL if it has none. */
Instance *equality_constraint(Tree *tree, Instance *instance);

/* The number of residuals of an equality constraint. */
uint32_t residue_count(Tree *tree, Instance *constraint);

/* ---- checking (connect_check.c) ---- */

/* Refuses connectors that the specification does not allow. */
void connect_check(Connections *connections);

/* Finds idle sets, and refuses elements of expandable connectors that only receive a value. */
void connect_check_sources(Connections *connections);

/* Does the end give its set a value? Outputs seen from inside give values, and so do public inputs seen from outside. */
bool is_source(const Connections *connections, uint32_t end);
bool in_expandable(const Connections *connections, uint32_t end);

/* ---- references (connect_reference.c) ---- */

/* One component of a path, with the subscripts written after it: kids of the reference. */
typedef struct ConnectStep {
  Instance *instance;
  uint32_t kid, count;
} ConnectStep;

/* The element of a split array that a path means. */
typedef struct ConnectChoice {
  uint32_t place;
  uint32_t number, count; /* its number among the elements that the reference selects; their count */
  const IndexVec *shape;  /* sizes of the array's dimensions without a scalar subscript */
} ConnectChoice;

/* A reference in a connect clause, followed as far as its names are declared. */
typedef struct ConnectPath {
  const ConnectSource *source;
  AstExpr e;
  VEC(ConnectStep) steps;
  VEC(ConnectChoice) choices; /* for the split arrays on the path, in order */
  bool is_absent;             /* a component on the path does not exist: its condition is false */
  bool is_open;               /* the last step is a split array for which there is no choice */
} ConnectPath;

/* The instance that the path leads to; NULL if it is absent or open, or if the name after the last step is not declared. */
Instance *connect_follow(Connections *connections, ConnectPath *path);

/* Resolves `e` as written in the clause of an instance. Absent components give no instance and no error. */
ConnectReference connect_reference(Connections *connections, const ConnectSource *source, AstExpr e);
void connect_reference_free(Connections *connections, ConnectReference *reference);

/* ---- loops (connect_loop.c) ---- */

/* The arguments of a clause that a loop has made, if they follow from those of an earlier clause; NULL: they have to be
 * resolved. They are valid until the next call. */
const ConnectLoop *connect_loop_next(Connections *connections, const ConnectSource *source);

/* Takes over the arguments of a clause. */
void connect_loop_keep(Connections *connections, const ConnectSource *source, ConnectReference left,
                       ConnectReference right);

/* The largest number in a subscript; 0 after an error. */
uint32_t connect_largest_subscript(Connections *connections, const ConnectSource *source, AstExpr e);

/* ---- matching (connect_match.c) ---- */

/* The match of two connectors, as an index into the matches; computed once. Reports parts that do not match. */
uint32_t connect_match(Connections *connections, Instance *left, Instance *right, Span span);

/* ---- operators (connect_operator.c) ---- */

/* Declares the variable of an operator. */
void connect_declare_operator(Connections *connections, const ConnectQuery *query);

/* Writes the equations that break loops of overdetermined connectors. */
void connect_write_graph(Connections *connections);

/* ---- streams (connect_stream.c) ---- */

/* Writes the equations of inStream and actualStream, and those for stream variables of outside connectors. */
void connect_write_streams(Connections *connections);

/* ---- writing (connect_write.c) ---- */

/* Writes the equations of all sets, and declares the variables that exist in expandable connectors. */
void connect_write_sets(Connections *connections);
