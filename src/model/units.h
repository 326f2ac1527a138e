/* units: units of measurement as exponents of base units, and a check for equations whose two sides have different units.
 *
 * Invariant: a warning is given only if both units are known. A variable without a unit, a number that may be a quantity (9.81)
 * and a function call make the unit of the expression that contains them unknown. */
#pragma once

#include "model/model.h"

enum { UNIT_SECOND = 2, UNIT_BASES = 7 };

/* factor * m^exponents[0] * kg^exponents[1] * ... of s, A, K, mol, cd. */
typedef struct Unit {
  double factor;
  double exponents[UNIT_BASES];
} Unit;

/* Reads a unit as the language writes it: N.m, kg/(m.s2), m-1; false if it is not known. Angles are numbers. */
bool unit_parse(const char *text, Unit *unit);

/* Are two units the same? */
bool unit_equal(const Unit *a, const Unit *b);

/* Warns about equations, initial equations and bindings whose units differ, once for each place in the source. O(size of the
 * graph). */
void units_check(Model *model, Diags *diags);
