/* analysis_report: an analysis as text, as JSON (docs/command.md) and as a picture (SVG). */
#pragma once

#include "array/analysis.h"

/* Each appends to the text. O(size of the report). */
void analysis_report_text(Analysis *analysis, Heap *heap, TextVec *text);
void analysis_report_json(Analysis *analysis, Heap *heap, TextVec *text);

/* The JSON if there is no analysis: every value is null. */
extern const char analysis_report_nothing[];

void analysis_report_svg(Analysis *analysis, Heap *heap, TextVec *text);

/* "ok", "unbalanced" or "singular". */
const char *analysis_verdict(const Analysis *analysis);
