/* json: see json.h. Members of the outermost object, and containers in an array one level below, begin a line. Everything deeper
 * stays on one line, which keeps long reports both readable and compact. */
#include "result/json.h"

#include "base/number.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

JsonWriter json_make(Heap *heap, TextVec *text) { return (JsonWriter){.heap = heap, .text = text}; }

static void put(JsonWriter *json, const char *bytes) { text_append(json->heap, json->text, bytes, strlen(bytes)); }

static void new_line(JsonWriter *json) {
  text_printf(json->heap, json->text, "\n%*s", (int)(2 * json->levels.count), "");
}

/* Writes the separator between an element and the one before it. */
static void separate(JsonWriter *json, bool own_line) {
  JsonLevel *level = &vec_last(&json->levels);
  if (level->filled) put(json, own_line ? "," : ", ");
  if (own_line) new_line(json);
  level->filled = true;
  level->broken |= own_line;
}

static void before_value(JsonWriter *json, bool container) {
  if (!json->after_key && json->levels.count) separate(json, container && json->levels.count <= 2);
  json->after_key = false;
}

static void begin(JsonWriter *json, const char *bracket, char closing) {
  before_value(json, true);
  put(json, bracket);
  vec_push(json->heap, &json->levels, (JsonLevel){.closing = closing});
}

static void end(JsonWriter *json) {
  JsonLevel level = vec_pop(&json->levels);
  if (level.broken) new_line(json);
  text_append(json->heap, json->text, &level.closing, 1);
  if (json->levels.count == 0) put(json, "\n");
}

void json_reopen(JsonWriter *json) {
  TextVec *text = json->text;
  while (text->count && text->data[text->count - 1] != '}') text->count--;
  if (text->count) text->count--;
  while (text->count && text->data[text->count - 1] == '\n') text->count--;
  vec_push(json->heap, &json->levels, (JsonLevel){.closing = '}', .filled = true});
}

void json_object_begin(JsonWriter *json) { begin(json, "{", '}'); }
void json_array_begin(JsonWriter *json) { begin(json, "[", ']'); }
void json_object_end(JsonWriter *json) { end(json); }
void json_array_end(JsonWriter *json) { end(json); }

static void put_ascii(JsonWriter *json, unsigned char c) {
  static const char *const short_forms[] = {
      ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r"};
  if (c == '"') put(json, "\\\"");
  else if (c == '\\') put(json, "\\\\");
  else if (c <= '\r' && short_forms[c]) put(json, short_forms[c]);
  else if (c < 0x20 || c == 0x7f) text_printf(json->heap, json->text, "\\u%04x", c);
  else text_append(json->heap, json->text, (const char *)&c, 1);
}

static void put_string(JsonWriter *json, const char *text, size_t length) {
  put(json, "\"");
  for (size_t i = 0; i < length;) {
    size_t size = utf8_length(text + i, length - i);
    if (size == 1) put_ascii(json, (unsigned char)text[i]);
    else if (size == 0) put(json, "\xef\xbf\xbd");
    else text_append(json->heap, json->text, text + i, size);
    i += size ? size : 1;
  }
  put(json, "\"");
}

bool json_next(JsonWriter *json, uint32_t k, uint32_t count) {
  if (k == 0) json_array_begin(json);
  if (k == count) json_array_end(json);
  return k < count;
}

bool json_next_object(JsonWriter *json, uint32_t k, uint32_t count) {
  if (k > 0) json_object_end(json);
  bool goes_on = json_next(json, k, count);
  if (goes_on) json_object_begin(json);
  return goes_on;
}

void json_key(JsonWriter *json, const char *key) {
  separate(json, json->levels.count == 1);
  put_string(json, key, strlen(key));
  put(json, ": ");
  json->after_key = true;
}

static void json_string_length(JsonWriter *json, const char *text, size_t length) {
  before_value(json, false);
  put_string(json, text, length);
}

void json_string(JsonWriter *json, const char *text) {
  if (text) json_string_length(json, text, strlen(text));
  else json_null(json);
}

static void put_word(JsonWriter *json, const char *word) {
  before_value(json, false);
  put(json, word);
}

void json_number(JsonWriter *json, double value) {
  char text[NUMBER_SIZE] = "null";
  if (isfinite(value)) number_shortest(value, text);
  put_word(json, text);
}

void json_integer(JsonWriter *json, int64_t value) {
  before_value(json, false);
  text_printf(json->heap, json->text, "%" PRId64, value);
}

void json_bool(JsonWriter *json, bool value) { put_word(json, value ? "true" : "false"); }
void json_null(JsonWriter *json) { put_word(json, "null"); }

void json_key_string(JsonWriter *json, const char *key, const char *text) {
  json_key(json, key), json_string(json, text);
}
void json_key_number(JsonWriter *json, const char *key, double value) { json_key(json, key), json_number(json, value); }
void json_key_integer(JsonWriter *json, const char *key, int64_t value) {
  json_key(json, key), json_integer(json, value);
}
void json_key_bool(JsonWriter *json, const char *key, bool value) { json_key(json, key), json_bool(json, value); }
