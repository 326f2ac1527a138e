/* card: a netlist as a list of cards: one logical line each, with continuation lines joined, comments left out, letters in lower
 * case, and files of .include and .lib inserted.
 *
 * Invariant: every byte of a card knows its place in the netlist. Text from another file has the place of the card that included
 * it, and the card names file and line. */
#pragma once

#include "base/reading.h"

typedef struct Card {
  const char *text;      /* NUL-terminated */
  const uint32_t *place; /* per byte of the text, and one past it */
  const char *file;      /* file of an included card; NULL: the netlist itself */
  uint32_t line;         /* line in that file, from 1 */
  Span whole;            /* if there are no places: the place of text that the user did not write */
} Card;
typedef VEC(Card) CardVec;

typedef struct Deck {
  const char *title; /* the first line, in UTF-8 */
  CardVec cards;     /* up to .end, without the title */
} Deck;

/* Reads all cards; false: an error is in diags. Texts live in the arena. O(length). */
bool deck_read(Deck *deck, Arena *arena, const Source *source, FileReader included, Diags *diags);

/* If given as the end of a place, it means the end of the card. */
#define CARD_END UINT32_MAX

/* The place of a whole card. */
Span card_whole(const Card *card);

/* The place of bytes [begin, end) of a card's text in the netlist. */
Span card_span(const Card *card, uint32_t begin, uint32_t end);

/* An error or a warning at these bytes; it names the file if it is not the netlist. */
__attribute__((format(printf, 5, 6))) Diag *card_error(Diags *diags, const Card *card, uint32_t begin, uint32_t end,
                                                       const char *format, ...);
__attribute__((format(printf, 5, 6))) Diag *card_warning(Diags *diags, const Card *card, uint32_t begin, uint32_t end,
                                                         const char *format, ...);
