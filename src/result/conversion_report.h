/* conversion_report: how equations were rewritten because their Jacobian was singular (array/convert.h), for people and programs. */
#pragma once

#include "array/convert.h"
#include "result/json.h"

/* One paragraph for each rewriting, below a title; nothing if there are none. */
void conversion_report_text(const ConversionVec *conversions, Heap *heap, TextVec *text);

/* Writes the key "conversions" with its list, or with null if `conversions` is NULL. */
void conversion_report_json(const ConversionVec *conversions, JsonWriter *json);
