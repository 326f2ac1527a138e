/* search: the first time in a stretch of a step at which a watched scalar is out of its range.
 *
 * Each scalar is watched by its margin: how far it is inside of its range, negative outside. Margins are sampled at Chebyshev's points of the
 * stretch. The polynomial through the samples says whether a margin may be negative between them; two more points say
 * whether the polynomial can be trusted. Where it cannot, the stretch is halved. Nothing is proven by that: see prover.h. What was found is
 * located by one bracketing method. Exported solvers carry this as it stands. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The margins at a time of the step; INFINITY of scalars that are not watched now. false: they are not known there. */
typedef bool MarginFunction(void *context, double t, double *margin);

/* The watched scalars of a step. */
typedef struct Watched {
  void *context;
  uint32_t count;
  double step;          /* its length */
  MarginFunction *look; /* with columns that are solved for */
  MarginFunction *peek; /* with interpolated columns, which costs less; NULL: there is nothing cheaper */
  bool is_exact;        /* both give the same */
  double near;          /* to which times are located; 0: to round-off */
  bool looks_beside;    /* also where rates at the ends of a stretch lead: nothing proves what is there */
  const bool *jumps;    /* scalars that jump, of which samples tell nothing in between; NULL: none does */
} Watched;

/* No margin is negative at low; one is at high. */
typedef struct Bracket {
  double low, high;
} Bracket;

/* Margins and their rates at both ends of a stretch; a rate of 0 may be one that is not known. */
typedef struct KnownEnds {
  const double *low, *low_rate, *high, *high_rate;
} KnownEnds;

enum { SEARCH_POINTS = 8, SEARCH_CHECKS = 2, SEARCH_NUMBERS = SEARCH_POINTS + SEARCH_CHECKS + 3 };

/* Room for samples of the scalars. */
typedef struct Search {
  double *sample[SEARCH_POINTS], *check[SEARCH_CHECKS], *solved; /* margins of a stretch */
  double *at_low, *at_high;                                      /* of a bracket */
} Search;

/* room: SEARCH_NUMBERS for each of so many scalars. */
Search search_make(uint32_t count, double *room);

/* The first time in the stretch at which a margin is negative, with nothing negative at its beginning. It is found where the margin is negative for more than
 * a thousandth of the step or its polynomials tell of it. What is known of its ends
 * may save most of the looks; NULL: nothing is. false: none is negative. */
bool search_find(Search *search, const Watched *watched, Bracket stretch, const KnownEnds *ends, Bracket *found);

/* Shrinks the bracket to what `near` asks for. The last look is at its upper end. */
void search_locate(Search *search, const Watched *watched, Bracket *bracket);
