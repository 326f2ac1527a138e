/* topology_report: what the graph of a circuit says about its index, for people and for programs. */
#pragma once

#include "array/analysis.h"
#include "result/json.h"

void topology_report_text(const Analysis *analysis, Heap *heap, TextVec *text);
void topology_report_json(const Analysis *analysis, JsonWriter *json);
