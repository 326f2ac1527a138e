/* messages: the texts of assert and terminate as pieces that an exported model joins when it prints them. */
#pragma once

#include "export/source.h"

/* A text or, with a value, its printf format. It is left out if its guard is 0. */
typedef struct MessagePiece {
  const char *text;
  int guard, value; /* numbers of expressions; -1: none */
} MessagePiece;

typedef struct Messages {
  VEC(MessagePiece) pieces;
  ExprVec values; /* values over the unknowns of the array */
  IndexVec first; /* per action: its first piece; one more entry at the end */
} Messages;

/* The messages of all actions. A message stays as written if a part of it has no numeric value, for example a call of a
 * function that returns text. */
Messages messages_collect(Heap *heap, Arena *arena, const ExportSource *source);
