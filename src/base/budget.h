/* budget: what the work on one handle may take of memory, work and text, so that a short file cannot ask for a machine's
 * whole memory or for days.
 *
 * Invariant: every heap has the budget of its handle (heap_budget). Memory counts what is held now, in all heaps of
 * the handle. Work counts steps since the public call began: an instance, an equation, a node of an expression, an
 * operation of an algorithm, each some nanoseconds. Text counts the characters of one text. Work that exceeds a
 * limit ends like a refused allocation, and budget_message says what was too large. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum BudgetKind { BUDGET_MEMORY, BUDGET_WORK, BUDGET_TEXT, BUDGET_KINDS } BudgetKind;

/* Limits by kind; 0: the default. */
typedef struct BudgetLimits {
  uint64_t most[BUDGET_KINDS];
} BudgetLimits;

typedef struct Budget {
  uint64_t most[BUDGET_KINDS];
  uint64_t used[BUDGET_KINDS]; /* of text: in the longest one that was refused */
  bool is_exceeded,
      is_lifted; /* the latter: limits are off, because the message about the one that was exceeded needs memory */
  BudgetKind exceeded;
  const char *task;    /* what is being done, in words that stay: "instances of classes"; NULL: nothing special */
  uint32_t begin, end; /* of the source, where it is done (diag.h, Span); equal: nowhere */
} Budget;

/* A budget of these limits, with nothing used. */
Budget budget_make(const BudgetLimits *limits);

/* Takes so much more; false when that is beyond the limit: then nothing is taken, and the budget is exceeded. */
static inline bool budget_take(Budget *budget, BudgetKind kind, uint64_t more) {
  if (budget->is_lifted || (more <= budget->most[kind] && budget->used[kind] <= budget->most[kind] - more)) {
    budget->used[kind] += more;
    return true;
  }
  budget->is_exceeded = true;
  budget->exceeded = kind;
  return false;
}

/* What begins now, and where it is in the source, for the message. */
static inline void budget_task(Budget *budget, const char *task) {
  budget->task = task;
  budget->begin = budget->end = 0;
}
static inline void budget_place(Budget *budget, uint32_t begin, uint32_t end) {
  budget->begin = begin, budget->end = end;
}

enum { BUDGET_MESSAGE = 256, BUDGET_AMOUNT = 32 };

/* "8G" for 8e9, every digit where there is no prefix for it; in `text`, which is returned. */
const char *budget_amount(uint64_t amount, char text[BUDGET_AMOUNT]);

/* "instances of classes: more than 8G bytes of memory; --limits memory=16G allows more", of the limit that was exceeded. */
void budget_message(const Budget *budget, char message[BUDGET_MESSAGE]);
