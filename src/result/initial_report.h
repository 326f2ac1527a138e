/* initial_report: how each initial value was found, for people and for programs (JSON keys:
 * docs/initialization.md), and the values as a list of modifiers that start_list.h reads. */
#pragma once

#include "init/explain.h"

/* A table of every variable and derivative with its value and how it was found, below a summary. */
void initial_report_text(const Initial *initial, const Explanation *explanation, Evaluator *evaluator, Heap *heap,
                         TextVec *text);

/* The report as JSON. explanation is NULL when there are no values; then the report has the conflict, if one was found.
 * `initial` is NULL when initialization was not reached. */
void initial_report_json(const char *status, const Initial *initial, const Explanation *explanation,
                         Evaluator *evaluator, Heap *heap, TextVec *text);

/* The JSON if there was no memory to make it: every value is null. */
extern const char initial_report_nothing[];

/* How initial values were found, in words. */
const char *initial_report_way(InitialWay way);

/* All variables of the model as `(x(start = 1), y(start = 2))`, including free parameters. */
void initial_report_modifiers(const Initial *initial, Evaluator *evaluator, Heap *heap, TextVec *text);
