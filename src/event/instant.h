/* instant: the verdict on a singular point. Is it a single instant that the solution passes?
 *
 * The Jacobian can lose rank at a single time while the solution continues: a regularized root is flat where a flow
 * reverses, and the balance m*h = m*h_in leaves h free where m is zero. It also loses rank where the solution folds,
 * branches or ends. The equations just before and after the instant distinguish these cases. With time and states fixed
 * there, they are solved along the directions that the Jacobian loses. The solution is the only one if the Jacobian,
 * restricted to these directions, keeps its orientation. At a fold or a branching the orientation changes. */
#pragma once

#include "view/view.h"

/* Points near an instant at time t: `gap` and FAR times as far from it. */
typedef enum InstantPlace { INSTANT_FAR_BEFORE, INSTANT_BEFORE, INSTANT_AFTER, INSTANT_FAR_AFTER } InstantPlace;

/* The time of a place. */
double instant_time(double t, double gap, InstantPlace place);

typedef enum Verdict {
  VERDICT_REGULAR, /* no rank is lost on the way from either side: the instant is somewhere else */
  VERDICT_PASSED,  /* the solution continues uniquely */
  VERDICT_RESTS,   /* the same, and the rank stays lost after the instant, as in n*abs(n) = 0 for a pump at rest */
  VERDICT_SINGULAR /* the solution ends or branches, or depends on states without bound */
} Verdict;

/* Do the columns, including states, have a limit? A column has a limit if its change between the two distances is not larger than
 * its own size. At a pole, columns grow with the inverse of the distance. */
bool instant_has_limit(const System *system, const double *near, const double *far);

/* y: the columns at each place. The states there are given; the other columns are guesses, and are solved. NULL for the
 * places before the instant: the run begins there. A view of other equations than the model's own always gives
 * VERDICT_SINGULAR, because it need not show all branches. asked: if no direction is lost, the one that is nearly lost decides.
 * Costs about 200 factorizations of the Jacobian. */
Verdict instant_judge(View *view, double t, double gap, bool asked, double *const *y);

/* The verdict for solutions that meet at a kink of the equations, as for a pump whose flow stops: with the flow reversed, its
 * enthalpy is different. Among the solutions along the lost direction exactly one crosses, before the instant and after it, with
 * the same sign; others only touch. Returns true if that solution continues, with its columns after the instant in y. The lost
 * direction may jump at the instant. y: the columns at each place, where the states are given; those at INSTANT_BEFORE are a guess
 * from farther back. Costs about 200 factorizations. */
bool instant_crosses(View *view, double t, double gap, double *const *y);
