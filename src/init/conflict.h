/* conflict: why there are no consistent initial values: a smallest set of equations and fixed start values
 * that contradict each other, and by how much. */
#pragma once

#include "init/steps.h"
#include "init/terms.h"

typedef struct Conflict {
  IndexVec rows;    /* rows of the system, the worst first */
  IndexVec columns; /* fixed ones */
  double residual;  /* residual of the first row at the point where all rows are satisfied best */
  uint32_t column;  /* a column that the other rows determine; MAP_NONE */
  double wanted;    /* the value that they require; NAN if none fits */
  Proof proof;      /* proof that a part of the rows has no solution in a box */
  bool is_doubtful; /* a column that may move occurs nonlinearly in the rows: elsewhere they may agree */
} Conflict;

/* A redundant fixed column and the rows and columns that determine it: the fundamental circuit of the structural choice, so without
 * superfluous members. The heap owns the vectors. */
Conflict conflict_of_column(const InitialSystem *system, const Order *order, const StepsResult *failure);

/* For too many initial equations: finds the smallest over-determined part that contains `row`. */
Conflict conflict_of_surplus(const InitialSystem *system, const InitialColumn *columns, uint32_t row, double residual);

/* Numerically: starts from y and moves it to where all rows are best satisfied in the least-squares sense. The conflict consists
 * of the rows that keep a residual there, with their fixed columns. */
Conflict conflict_of_point(InitialSystem *system, const InitialColumn *columns, double t, double *y, bool *defined);

/* Drops rows and fixed columns of a small conflict, one after another, while the others still contradict each other,
 * linearized at y. The result is a smallest set. Also sets whether the conflict is uncertain. */
void conflict_filter(InitialSystem *system, const InitialColumn *columns, double t, const double *y,
                     Conflict *conflict);

/* Moves start values that make the first of these rows undefined at y. If another row gives a value for one of the columns,
 * that column gets the value. Otherwise all start values that the user has not given move to nominal, within min and max; if
 * the user has given all, those that are not fixed move. Returns false if nothing moved. */
bool conflict_move_undefined(InitialSystem *system, const IndexVec *rows, double t, const double *y,
                             InitialColumn *columns);

/* Reports the first of these rows that is undefined at y or has an undefined derivative there. Names the expression that is outside
 * its domain, and the values in it. false: all rows and derivatives are defined. */
bool conflict_report_undefined(InitialSystem *system, const IndexVec *rows, double t, const double *y, Diags *diags);

/* Reports a quotient whose divisor consists only of errors. Returns false. */
bool conflict_report_quotient(InitialSystem *system, const Quotient *quotient, Diags *diags);

/* The message: variables with their fixed values, equations, how much they disagree, and what to try. */
void conflict_report(const InitialSystem *system, const InitialColumn *columns, const Conflict *conflict, Diags *diags);
