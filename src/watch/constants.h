/* constants: the numbers by which steps are watched, each with its unit, the reason for it and the source of its value. */
#pragma once

/* name            value      unit; reason; source */

/* Search (search.c): samples of margins. */
enum { STRETCH_LIMIT = 128 }; /* stretches of a step, unless scalars jump; about 1,300 looks at most; choice */
enum { LOCATE_LIMIT = 80 };   /* looks into a bracket; 53 halvings end at round-off; IEEE 754 */
static const double LEAST_STRETCH =
    0x1p-10; /* of a step; shorter stretches are not halved: what holds for less of a step is not looked for; choice */
static const double PART_MISSED =
    0.1; /* of the range of a polynomial; one that misses more has not seen the scalar; choice */
static const double TIMES_MISSED =
    4; /* what the polynomial misses at two points is below this part of what it misses anywhere; choice */
static const double FAITHFUL = 0.1;   /* of a margin; interpolated columns that miss more do not serve; choice */
static const double NEAR_ROOT = 1e-4; /* of a step; interpolated columns tell when an event is to about this; choice */

/* Watcher (watcher.c). */
static const double WEIGHT_ROUND_OFF = 1e-9; /* of the weights of modes that slide, which end beyond 0 or 1; choice */
static const double TIME_ROUND_OFF = 2e-16;  /* of the time; to which an event is located; IEEE 754 */
static const double STEP_ROUND_OFF = 5e-15;  /* of the step; the same, by round-off of the polynomials; IEEE 754 */

/* Kinks (kinks.c). */
static const double WELL_INSIDE = 1e-6; /* of a step; a kink nearer to one of its ends is at that end; choice */
static const double ARGUMENT_ROUND_OFF =
    1e-12; /* of what an argument is a difference of; some operations of round-off; IEEE 754 */
static const double KINK_FOUND =
    1e-8; /* of a step; to which a kink is located; its error is far below that of the step; choice */
static const double CLOSE_KINKS = 0.02; /* of a step; kinks that follow each other more closely hold it up; choice */
enum { IDLE_KINKS = 8 }; /* such kinks in a row are those of an argument that is zero but for its error; choice */

/* Poles (poles.c). */
static const double POLE_DIP =
    0.1; /* of a divisor at the ends of a step; one that is smaller in between is followed to where it is least; choice */
static const double POLE_GROWTH =
    10; /* of a quotient from the ends of a step to next to a zero of its divisor; a quotient that has a value there changes as little as the step is short; choice */
