/* budget: see budget.h. */
#include "base/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The defaults allow a model of a million equations. They stop most models that are too large within seconds. */
static const struct {
  const char *name, *unit;
  uint64_t most;
} kinds[BUDGET_KINDS] = {
    [BUDGET_MEMORY] = {"memory", "bytes of memory", UINT64_C(8000000000)},
    [BUDGET_WORK] = {"work", "steps of work", UINT64_C(1200000000)},
    [BUDGET_TEXT] = {"text", "characters of text", UINT64_C(200000000)},
};

static const char PREFIXES[] = "kMGT";

const char *budget_amount(uint64_t amount, char text[BUDGET_AMOUNT]) {
  uint64_t unit = 1;
  int prefix = -1;
  while (prefix < 3 && amount / unit >= 1000 && amount % (unit * 1000) == 0) unit *= 1000, prefix++;
  snprintf(text, BUDGET_AMOUNT, "%llu%.*s", (unsigned long long)(amount / unit), prefix >= 0,
           prefix >= 0 ? PREFIXES + prefix : "");
  return text;
}

Budget budget_make(const BudgetLimits *limits) {
  Budget budget = {0};
  for (int k = 0; k < BUDGET_KINDS; k++) budget.most[k] = limits->most[k] ? limits->most[k] : kinds[k].most;
  return budget;
}

void budget_message(const Budget *budget, char message[BUDGET_MESSAGE]) {
  char most[BUDGET_AMOUNT], more[BUDGET_AMOUNT];
  BudgetKind kind = budget->exceeded;
  budget_amount(budget->most[kind], most);
  budget_amount(2 * budget->most[kind], more);
  snprintf(message, BUDGET_MESSAGE, "%s%smore than %s %s; --limits %s=%s allows more", budget->task ? budget->task : "",
           budget->task ? ": " : "", most, kinds[kind].unit, kinds[kind].name, more);
}
