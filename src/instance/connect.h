/* connect: what the files of connections share.
 *
 * A variable of a connector has one member for each of its elements, over the dimensions of all instances from the model
 * down to it: member first + element. Each member has two ends: inside (seen from the model that holds the connector's
 * component) and outside (seen from the component itself). Connection sets are sets of ends; end 2 * member + side. */
#pragma once

#include "instance/connect_graph.h"
#include "instance/connections.h"

typedef enum ConnectSide { SIDE_INSIDE, SIDE_OUTSIDE } ConnectSide;

/* A connector, alone or within another one. */
typedef struct ConnectConnector {
  Instance *instance;
  uint32_t first;                                            /* place of its first element's cardinality */
  uint32_t count;                                            /* elements, over all dimensions */
  bool is_inner;                                             /* it stands in another connector */
  uint32_t variables, variable_count, records, record_count; /* ranges of what is inside of one that is not */
} ConnectConnector;

/* A variable in a connector. */
typedef struct ConnectVariable {
  Instance *instance;
  Instance *connector; /* the innermost one that holds it */
  uint32_t first;      /* member */
  uint32_t count;      /* elements, over all dimensions */
} ConnectVariable;

/* An overdetermined record in a connector: one node of the graph an element. A type with dimensions of its own
 * (type Orientation = Real[3, 3] with a constraint) is one, too: those are not counted. */
typedef struct ConnectRecord {
  Instance *instance;
  Instance *constraint; /* its function equalityConstraint */
  uint32_t first, count;
  uint32_t dimensions, width; /* how many of the last dimensions belong to one record, and the product of their sizes */
} ConnectRecord;

/* Variables of two connectors that belong together. Of each of the two connectors' elements, `inner` elements are in the
 * variable. */
typedef struct ConnectPair {
  uint32_t left, right; /* variables */
  uint32_t inner;
  uint32_t record;     /* the pair of records, counted within the match; CONNECT_NONE: none */
  uint32_t per_record; /* elements in one such record */
} ConnectPair;

/* Overdetermined records of two connectors that belong together. */
typedef struct ConnectRecordPair {
  uint32_t left, right; /* records */
  uint32_t inner;
} ConnectRecordPair;

/* Two connectors that are connected somewhere, and what of them belongs together. */
typedef struct ConnectMatch {
  Instance *left, *right;
  uint32_t pairs, pair_count;     /* range of all pairs */
  uint32_t records, record_count; /* range of all pairs of records */
  bool fits;
} ConnectMatch;

/* One connect clause with its place in the tree. */
typedef struct ConnectSource {
  const ConnectClause *clause;
  const Instance *instance;
} ConnectSource;

/* One element of a connector connected to one of another. */
typedef struct ConnectLink {
  uint32_t match, source;
  uint32_t left, right; /* elements of the connectors */
  uint32_t edges;       /* its first edge of the graph */
  uint8_t left_side, right_side;
} ConnectLink;

/* The variable that stands for an operator on an argument. */
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
  Map connector_of; /* of an instance */
  IndexVec cardinality;
  VEC(ConnectVariable) variables;
  Map variable_of; /* of an instance */
  uint32_t member_count;
  VEC(ConnectRecord) records;
  Map record_of;
  VEC(ConnectSource) sources;
  VEC(ConnectMatch) matches;
  Map match_of; /* of two connectors */
  VEC(ConnectPair) pairs;
  VEC(ConnectRecordPair) record_pairs;
  VEC(ConnectLink) links;
  ConnectGraph graph;
  IndexVec edge_links; /* of each edge: its link; CONNECT_NONE: a branch */
  ConnectSets sets;    /* of ends */
  uint32_t *source_of; /* of an end: a clause that put it in its set */
  bool *is_idle;       /* of a set: it has elements of expandable connectors only, that nothing else is connected to */
  VEC(ConnectQuery) queries;
  Map query_of;
};

static inline uint32_t connect_end(uint32_t member, ConnectSide side) { return 2 * member + (uint32_t)side; }
static inline uint32_t end_member(uint32_t end) { return end / 2; }
static inline ConnectSide end_side(uint32_t end) { return (ConnectSide)(end % 2); }
static inline uint64_t instance_key(const Instance *instance) { return (uint64_t)(uintptr_t)instance; }

/* ---- requested operators (connect_query.c) ---- */

/* The connections of a tree, made when they are first needed. */
Connections *connections_of(Tree *tree);

const char *connect_operator_word(ConnectOperator operation);

/* ---- elements (connect_element.c) ---- */

/* Appends the sizes of all dimensions from the model down to the instance. */
void list_sizes(Connections *connections, const Instance *instance, IndexVec *sizes);

/* Subscripts, 1-based, of an element that is counted over all dimensions. */
void split_element(const IndexVec *sizes, uint32_t element, uint32_t *subscripts);

/* The element of a variable of that name with the dimensions of the instance. */
AstExpr element_reference(Connections *connections, const Instance *instance, Name name, uint32_t element, Span span);

/* The element of an overdetermined record, as a whole. */
AstExpr record_reference(Connections *connections, const ConnectRecord *record, uint32_t element, Span span);

/* ---- expandable connectors (connect_expand.c) ---- */

/* Adds to expandable connectors what their connections bring. */
void connect_expand(Connections *connections);

/* ---- registering (connect_register.c) ---- */

/* Lists connectors, their variables and overdetermined records. */
void connect_register(Connections *connections);

/* The variable of a member: the last one that starts at it or before. O(log variables). */
const ConnectVariable *member_variable(const Connections *connections, uint32_t member);

/* The overdetermined record of a node, as member_variable. */
const ConnectRecord *node_record(const Connections *connections, uint32_t node);

/* The function equalityConstraint of a record or type; NULL if it has none. */
Instance *equality_constraint(Tree *tree, Instance *instance);

/* How many numbers an equality constraint gives. */
uint32_t residue_count(Tree *tree, Instance *constraint);

/* ---- checking (connect_check.c) ---- */

/* Refuses connectors that are not as the specification asks. */
void connect_check(Connections *connections);

/* Finds idle sets, and refuses elements of expandable connectors that only receive. */
void connect_check_sources(Connections *connections);

/* An output inside, or a public input outside, gives the value of its set. */
bool is_source(const Connections *connections, uint32_t end);
bool in_expandable(const Connections *connections, uint32_t end);

/* ---- references (connect_reference.c) ---- */

/* One component on the way of a path, with the subscripts written after it: kids of the reference. */
typedef struct ConnectStep {
  Instance *instance;
  uint32_t kid, count;
} ConnectStep;

/* A reference in a connect clause, followed as far as its names are declared. */
typedef struct ConnectPath {
  const ConnectSource *source;
  AstExpr e;
  VEC(ConnectStep) steps;
  bool is_absent; /* a component on the way does not exist: its condition is false */
} ConnectPath;

/* The instance that the path leads to; NULL if it is absent, or a name is not declared: that after the last step. */
Instance *connect_follow(Connections *connections, ConnectPath *path);

/* What one argument of a connect clause means. */
typedef struct ConnectReference {
  Instance *instance; /* NULL: there is none, or an error was reported */
  ConnectSide side;
  IndexVec elements; /* counted over the dimensions that `instance` does not share with the clause's instance */
  IndexVec shape;    /* sizes of those that no single subscript chooses; their product is elements.count */
  uint32_t own;      /* product of all sizes that it does not share */
  uint32_t shared;   /* product of those of the clause's instance that it does not share */
} ConnectReference;

/* Resolves `e` as the clause of an instance says it. Absent components give no instance and no error. */
ConnectReference connect_reference(Connections *connections, const ConnectSource *source, AstExpr e);
void connect_reference_free(Connections *connections, ConnectReference *reference);

/* The largest number that a subscript means; 0 after an error. */
uint32_t connect_largest_subscript(Connections *connections, const ConnectSource *source, AstExpr e);

/* ---- matching (connect_match.c) ---- */

/* What of two connectors belongs together; a place among the matches, made once. Reports what does not fit. */
uint32_t connect_match(Connections *connections, Instance *left, Instance *right, Span span);

/* ---- operators (connect_operator.c) ---- */

/* Declares the variable of an operator. */
void connect_declare_operator(Connections *connections, const ConnectQuery *query);

/* Writes the equations that break loops of overdetermined connectors. */
void connect_write_graph(Connections *connections);

/* ---- streams (connect_stream.c) ---- */

/* Writes the equations of inStream and actualStream, and those of stream variables of outside connectors. */
void connect_write_streams(Connections *connections);

/* ---- writing (connect_write.c) ---- */

/* Writes the equations of all sets, and declares what exists in expandable connectors. */
void connect_write_sets(Connections *connections);
