/* rules: what the texts of FMI 2.0.4 and 3.0.1 demand of an FMU beyond being readable: names, references, attributes that go together, start values, the
 * structure of the model, files. Nothing of the FMU is run. */
#pragma once

#include "fmi/zip.h"

/* Hears of a rule that is broken. */
typedef void RuleReport(void *context, const char *text);

/* Reports every rule that the FMU breaks, and how many. About linear in the size of the description. */
uint32_t rules_check(const Zip *zip, Heap *heap, RuleReport *report, void *context);
