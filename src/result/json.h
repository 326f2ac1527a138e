/* json: a streaming writer of JSON into a text.
 *
 * Invariant: when every begin has met its end, the text is one valid JSON value in UTF-8. The writer adds commas and line breaks.
 * Bytes that are not UTF-8 become U+FFFD, and a number that is not finite becomes null.
 */
#pragma once

#include "base/vec.h"

typedef struct JsonLevel {
  char closing; /* the bracket that will close it */
  bool filled;  /* the container has an element */
  bool broken;  /* an element began a line */
} JsonLevel;

typedef struct JsonWriter {
  Heap *heap;
  TextVec *text;         /* appended to; owned by the caller */
  VEC(JsonLevel) levels; /* the open containers, innermost last */
  bool after_key;
} JsonWriter;

JsonWriter json_make(Heap *heap, TextVec *text);

void json_object_begin(JsonWriter *json);
void json_object_end(JsonWriter *json);
void json_array_begin(JsonWriter *json);
void json_array_end(JsonWriter *json);

/* Continues the object with which the text ends; json_object_end closes it again. */
void json_reopen(JsonWriter *json);

/* for (uint32_t k = 0; json_next(json, k, count); k++) writes an array with one value in each round. With json_next_object the
 * values are objects, and a round writes the members. A round must not be left early. */
bool json_next(JsonWriter *json, uint32_t k, uint32_t count);
bool json_next_object(JsonWriter *json, uint32_t k, uint32_t count);

/* The name of the next value; only directly within an object. */
void json_key(JsonWriter *json, const char *key);

/* Values: elements of an array, or following a key. NULL text is null. */
void json_string(JsonWriter *json, const char *text);
void json_number(JsonWriter *json, double value);
void json_integer(JsonWriter *json, int64_t value);
void json_bool(JsonWriter *json, bool value);
void json_null(JsonWriter *json);

/* Key and value together. */
void json_key_string(JsonWriter *json, const char *key, const char *text);
void json_key_number(JsonWriter *json, const char *key, double value);
void json_key_integer(JsonWriter *json, const char *key, int64_t value);
void json_key_bool(JsonWriter *json, const char *key, bool value);

/* A row KEY of a report's table (*_report.def) as a member of the object that `json` writes. */
#define JSON_MEMBER(name, known, value) \
  {                                     \
    json_key(json, #name);              \
    if (known) value;                   \
    else json_null(json);               \
  }

/* The text of a report without contents: JSON_NOTHING, the rows as JSON_NULL, JSON_END. */
#define JSON_NOTHING "{\"status\": \"input\""
#define JSON_NULL(name) ", \"" #name "\": null"
#define JSON_END "}\n"
