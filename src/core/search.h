/* search: the first time in an interval of a step at which a watched scalar is out of its range.
 *
 * Each scalar is watched by its margin: how far it is inside its range, negative outside. Margins are sampled at Chebyshev's points
 * of the interval. The polynomial through the samples says whether a margin may be negative between them; two more points say
 * whether the polynomial can be trusted. If it cannot, the interval is halved. This proves nothing: for proofs see prover.h. A
 * bracketing method locates the time. Exported solvers contain this file unchanged. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The margins at a time of the step; INFINITY for scalars that are not watched now. false: they are unknown there. */
typedef bool MarginFunction(void *context, double t, double *margin);

/* The watched scalars of a step. */
typedef struct Watched {
  void *context;
  uint32_t count;
  double step;          /* length of the step */
  MarginFunction *look; /* margins with solved columns */
  MarginFunction *peek; /* margins with interpolated columns, which cost less; NULL: there is nothing cheaper */
  bool is_exact;        /* solved and interpolated columns give the same margins */
  double near;          /* accuracy of located times; 0: round-off */
  /* also search in the direction of the rates at the ends of an interval, because nothing is proven about it */
  bool looks_beside;
  const bool *jumps; /* scalars that jump: samples say nothing about the time between them; NULL: none */
} Watched;

/* No margin is negative at low; one is at high. */
typedef struct Bracket {
  double low, high;
} Bracket;

/* Margins and their rates at both ends of an interval; a rate of 0 may be unknown. */
typedef struct KnownEnds {
  const double *low, *low_rate, *high, *high_rate;
} KnownEnds;

enum { SEARCH_POINTS = 8, SEARCH_CHECKS = 2, SEARCH_NUMBERS = SEARCH_POINTS + SEARCH_CHECKS + 3 };

/* Room for samples of the scalars. */
typedef struct Search {
  double *sample[SEARCH_POINTS], *check[SEARCH_CHECKS], *solved; /* margins in an interval */
  double *at_low, *at_high;                                      /* margins at the ends of a bracket */
} Search;

/* `room` has SEARCH_NUMBERS for each of `count` scalars. */
Search search_make(uint32_t count, double *room);

/* The first time in the interval at which a margin is negative; none is negative at its beginning. It is found where the margin is
 * negative for more than a thousandth of the step, or where its polynomial shows it. `ends` may save most of the evaluations; NULL:
 * nothing is known about the ends. false: no margin is negative. */
bool search_find(Search *search, const Watched *watched, Bracket stretch, const KnownEnds *ends, Bracket *found);

/* Shrinks the bracket to the accuracy `near`. The last evaluation is at its upper end. */
void search_locate(Search *search, const Watched *watched, Bracket *bracket);
