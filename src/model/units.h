/* units: units of measurement as exponents of base units, and the equations of a model whose sides differ in them.
 *
 * Invariant: a warning is given only where both units are known. A variable without a unit, a number that may be a
 * quantity (9.81), a call of a function make what they are part of unknown. */
#pragma once

#include "model/model.h"

enum { UNIT_SECOND = 2, UNIT_BASES = 7 };

/* factor * m^exponents[0] * kg^exponents[1] * ... of s, A, K, mol, cd. */
typedef struct Unit {
  double factor;
  double exponents[UNIT_BASES];
} Unit;

/* Reads a unit as the language writes it: N.m, kg/(m.s2), m-1; false for one that is not known. Angles are numbers. */
bool unit_parse(const char *text, Unit *unit);

/* Whether two units are the same. */
bool unit_equal(const Unit *a, const Unit *b);

/* Warns of equations, initial equations and bindings whose units differ, once a place in the source. O(size of the
 * graph). */
void units_check(Model *model, Diags *diags);
