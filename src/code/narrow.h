/* narrow: conditions that may change and change back within a small part of a step, however smooth the columns are that they read, as
 * exp(-(x/w)^2) > 0.5 does. No look at a few times tells of that. Their differences are bounded over stretches of a step instead, by bounds
 * of the columns' polynomials: a stretch whose bounds stay on one side of the edge is clear, others are to be halved. */
#pragma once

#include "code/evaluator.h"
#include "expr/enclosure.h"

typedef struct Narrow Narrow;

/* For the modes of the evaluator's code; NULL where no difference is such a function. Lives in the heap. */
Narrow *narrow_new(Heap *heap, Evaluator *evaluator);

/* Is there a difference that calls functions which give discrete values? They jump, and only looks tell where. */
bool narrow_has_opaque(const Narrow *narrow);

/* A step from (before, begin) to its end: is every such condition so far from its edge that it does not change, by the values and rates of the columns at
 * both ends alone? successor: the column of each column's rate, -1 where there is none. margin(context, mode, bounds) is the least margin of
 * differences within bounds. */
typedef double NarrowMargin(const void *context, uint32_t mode, Interval bounds);
bool narrow_is_far(Narrow *narrow, const int32_t *successor, double before, const double *begin, double step,
                   const double *end, NarrowMargin *margin, const void *context);

/* How many such modes there are, and which one the k-th is. */
uint32_t narrow_count(const Narrow *narrow);
uint32_t narrow_mode(const Narrow *narrow, uint32_t k);

enum { NARROW_SAMPLES = 8 };

/* The parts of a step at which its columns are to be told: NARROW_SAMPLES of them. */
extern const double narrow_part[NARROW_SAMPLES];

/* Tells the columns at part i of a step; from the last part on the step is known. */
void narrow_sample(Narrow *narrow, int i, const double *y);

/* Bounds of the difference of the k-th mode over parts of the step, which begins at `before`. */
Interval narrow_bounds(Narrow *narrow, uint32_t k, Interval part, double before, double step);
