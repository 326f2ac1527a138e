/* budget: limits the memory, work and text of one handle, so that a short file cannot use all memory of a machine, or run for days.
 *
 * Invariant: every heap has the budget of its handle (heap_budget). Memory counts the bytes held now in all heaps of the handle.
 * Work counts steps since the public call began: an instance, an equation, a node of an expression, or an operation of an
 * algorithm, each some nanoseconds. Text counts the characters of one text. Work that exceeds a limit ends like a refused
 * allocation, and budget_message says what was too large. */
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
  uint64_t used[BUDGET_KINDS]; /* for text: the length of the longest text that was refused */
  bool is_exceeded, is_lifted; /* lifted: limits are off, because reporting the exceeded one needs memory */
  BudgetKind exceeded;
  const char *task;    /* current task, a static text: "instances of classes"; NULL: nothing special */
  uint32_t begin, end; /* where the task is in the source (diag.h, Span); begin == end: nowhere */
} Budget;

/* A budget with these limits and nothing used. */
Budget budget_make(const BudgetLimits *limits);

/* Adds this much to the amount used. false: that exceeds the limit; nothing is added, and the budget is marked as exceeded. */
static inline bool budget_take(Budget *budget, BudgetKind kind, uint64_t more) {
  if (budget->is_lifted || (more <= budget->most[kind] && budget->used[kind] <= budget->most[kind] - more)) {
    budget->used[kind] += more;
    return true;
  }
  budget->is_exceeded = true;
  budget->exceeded = kind;
  return false;
}

/* Sets the current task, and its place in the source, for the message. */
static inline void budget_task(Budget *budget, const char *task) {
  budget->task = task;
  budget->begin = budget->end = 0;
}
static inline void budget_place(Budget *budget, uint32_t begin, uint32_t end) {
  budget->begin = begin, budget->end = end;
}

enum { BUDGET_MESSAGE = 256, BUDGET_AMOUNT = 32 };

/* Writes "8G" for 8e9, or all digits if no prefix fits, to `text` and returns it. */
const char *budget_amount(uint64_t amount, char text[BUDGET_AMOUNT]);

/* The message about the exceeded limit: "instances of classes: more than 8G bytes of memory; --limits memory=16G allows more". */
void budget_message(const Budget *budget, char message[BUDGET_MESSAGE]);
