/* watched: the columns that conditions read. */
#pragma once

#include "code/evaluator.h"

/* The columns that the differences of these modes read, each once. */
IndexVec watched_columns(Heap *heap, const Evaluator *evaluator, const Modes *modes);

/* Per column: is it one of these columns, does it depend directly on time, and is its derivative not a column? See System. NULL:
 * none does. */
const bool *watched_marks(Heap *heap, const Evaluator *evaluator, const IndexVec *columns);
