/* instant: the verdict on a singular point. Is it a single instant that the solution passes?
 *
 * The Jacobian can lose rank at a single time while the solution continues: a regularized root is flat where a flow reverses, and the balance
 * m*h = m*h_in leaves h free where m is zero. It also loses rank where the solution folds, branches or ends. The equations just before and after the
 * instant tell these cases apart. With time and states fixed there, they are solved along the directions that the Jacobian loses. The solution is the only one where the
 * Jacobian on these directions keeps its orientation; at a fold or a branching it does not.
 */
#pragma once

#include "view/view.h"

/* Points beside an instant at time t: `gap` and FAR times as far from it. */
typedef enum InstantPlace { INSTANT_FAR_BEFORE, INSTANT_BEFORE, INSTANT_AFTER, INSTANT_FAR_AFTER } InstantPlace;

/* The time of a place. */
double instant_time(double t, double gap, InstantPlace place);

typedef enum Verdict {
  VERDICT_REGULAR, /* no rank is lost on the way from both sides: the instant is somewhere else */
  VERDICT_PASSED,  /* the solution goes on in one way */
  VERDICT_SINGULAR /* it ends or branches, or depends on states without bound */
} Verdict;

/* Have the columns, states too, a limit: is none at the nearer distance farther from what it was at the other one than it was large? At a pole they grow with the
 * inverse of the distance. */
bool instant_has_limit(const System *system, const double *near, const double *far);

/* y: by place, columns with their states; the others are guesses, and are solved for. NULL for those before: there is nothing before. Singular for a view of other
 * equations than the model's own, which need not tell its branches. asked: where nothing is lost, the direction that nearly is decides. About 200 factorizations of the Jacobian. */
Verdict instant_judge(View *view, double t, double gap, bool asked, double *const *y);

/* The same where solutions meet at a kink of the equations, as those of a pump whose flow comes to rest: with the flow reversed its enthalpy is another one. Beside
 * the instant one solution alone crosses along the direction that is lost, the same way before and after; others only touch. That solution goes on: true, and
 * the columns after the instant are it. Between them the direction that is lost may jump. y: by place, with their states; that of INSTANT_BEFORE is a guess from farther back. About 200 factorizations. */
bool instant_crosses(View *view, double t, double gap, double *const *y);
