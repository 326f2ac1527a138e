/* conversion_report: see conversion_report.h. */
#include "result/conversion_report.h"

void conversion_report_text(const ConversionVec *conversions, Heap *heap, TextVec *text) {
  if (!conversions || !conversions->count) return;
  text_printf(heap, text, "\nRewritten equations (the Jacobian is singular as written)\n");
  for (uint32_t k = 0; k < conversions->count; k++) {
    const Conversion *conversion = &conversions->data[k];
    text_printf(heap, text, "  equation %u: %s\n    now %s\n    by  %s\n", conversion->equation + 1, conversion->before,
                conversion->after, conversion->how);
  }
}

void conversion_report_json(const ConversionVec *conversions, JsonWriter *json) {
  for (uint32_t k = 0; json_next_object(json, k, conversions->count); k++) {
    const Conversion *conversion = &conversions->data[k];
    json_key_string(json, "kind", conversion_name(conversion->kind));
    json_key_integer(json, "equation", (int64_t)conversion->equation + 1);
    json_key_string(json, "before", conversion->before);
    json_key_string(json, "after", conversion->after);
    json_key_string(json, "how", conversion->how);
  }
}
