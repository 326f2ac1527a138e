/* Every handle has a status, reports, pictures and files. */
#include <daedal.h>
#include <stdio.h>

/* Counts the lines of a CSV text that comes piece by piece. */
static bool count_lines(void *context, const void *bytes, size_t length) {
  const char *text = bytes;
  for (size_t k = 0; k < length; k++) *(unsigned *)context += text[k] == '\n';
  return true;
}

int main(void) {
  const char *text = "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_options options = daedal_default_options();
  options.intervals = 4;
  daedal_result *result = daedal_simulate(model, &options);
  unsigned lines = 0;
  if (daedal_status_of(result) != DAEDAL_OK) return 1;
  daedal_stream(result, count_lines, &lines);
  printf("%u lines of CSV\n", lines);
  const char *json = daedal_report(result, DAEDAL_REPORT_RUN, DAEDAL_JSON);
  const char *flat = daedal_report(model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT);
  const char *svg = daedal_draw(result, NULL);
  printf("JSON: %s, Base Modelica: %s, SVG: %s\n", json[0] == '{' ? "yes" : "no",
         strstr(flat, "der('x')") ? "yes" : "no", strstr(svg, "<svg") ? "yes" : "no");
  printf("saved: %d, ", daedal_save(result, "decay.csv"));
  printf("written: %d\n", daedal_write(result, "decay.svg", svg, strlen(svg)));
  daedal_free(result);
  daedal_free(model);
  return 0;
}

/* Output:
 * 6 lines of CSV
 * JSON: yes, Base Modelica: yes, SVG: yes
 * saved: 0, written: 0
 */
