/* messages: the texts of assert and terminate as pieces that an exported model puts together where they are said. */
#pragma once

#include "export/source.h"

/* A text, or with a value the format that printf writes it by. It is left out where its guard is 0. */
typedef struct MessagePiece {
  const char *text;
  int guard, value; /* numbers of expressions; -1: none */
} MessagePiece;

typedef struct Messages {
  VEC(MessagePiece) pieces;
  ExprVec values; /* over the unknowns of the array */
  IndexVec first; /* per action, and after the last: its first piece */
} Messages;

/* Those of all actions. A message of which a part has no value in numbers, as a call of a function that makes a text, is as written. */
Messages messages_collect(Heap *heap, Arena *arena, const ExportSource *source);
