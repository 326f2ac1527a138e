/* constants: the numbers by which a step is judged inside (segment/defect.h, run/stepper_defect.c), with unit, reason and source.
 *
 * What depends on a method stands with the method: StepShape.defect and Integrator.look_every.
 */
#pragma once

/* In tolerances. A step may miss the equations by so much, whatever makes it: it is an error of that size in one step at most, and the errors of steps that
 * a tolerance allows add up to more in a run. Measured: with 10 none of 1800 runs over jumps ends farther off than 100 tolerances (tests/test_defect.py). */
#define DEFECT_HARMLESS 10.0

/* Of the step. One that is taken again is so long, as one that left the domain: a smooth defect falls with its square at least. */
#define DEFECT_SHORTER 0.25

/* Ratio of two corrections of simplified Newton's method below which it converges: Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 2.1.
 * Exponentials that lead far off have 1/e. */
#define DEFECT_CONTRACTION 0.25

/* Parts of a run. Rows that are not smooth by construction are looked at in each, so that what they do for two hundredths of a run is seen. */
#define DEFECT_ROUGH_PARTS 100

/* Ratio. Rows that are not smooth by construction are looked at so many times as often: more would take over an eighth of the instructions of a rectifier, and found no more. */
#define DEFECT_ROUGH_TIMES 2
