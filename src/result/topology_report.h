/* topology_report: the conclusions about the index from the graph of a circuit, as text and as JSON. */
#pragma once

#include "array/analysis.h"
#include "result/json.h"

void topology_report_text(const Analysis *analysis, Heap *heap, TextVec *text);
void topology_report_json(const Analysis *analysis, JsonWriter *json);
