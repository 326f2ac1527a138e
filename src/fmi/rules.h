/* rules: the requirements of FMI 2.0.4 and 3.0.1 for an FMU that can be read: names, references, combinations of attributes, start
 * values, the structure of the model, files. No code of the FMU is run. */
#pragma once

#include "fmi/zip.h"

/* Called for each broken rule. */
typedef void RuleReport(void *context, const char *text);

/* Reports every rule that the FMU breaks and returns their number. About linear in the size of the description. */
uint32_t rules_check(const Zip *zip, Heap *heap, RuleReport *report, void *context);
