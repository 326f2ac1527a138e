/* watched: the columns that conditions read. */
#pragma once

#include "code/evaluator.h"

/* The columns that the differences of these modes read, each once. */
IndexVec watched_columns(Heap *heap, const Evaluator *evaluator, const Modes *modes);

/* Per column: is it one of these and follows time, without a column that is its derivative? See System. NULL: none does. */
const bool *watched_marks(Heap *heap, const Evaluator *evaluator, const IndexVec *columns);
