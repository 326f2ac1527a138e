/* Models from a text, from a file, from a library. */
#include <daedal.h>
#include <stdio.h>
#include <sys/stat.h>

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  if (!file) return;
  fputs(text, file);
  fclose(file);
}

int main(void) {
  const char *text = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;";
  daedal_model *from_text = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  printf("%s: %s\n", daedal_model_name(from_text), daedal_model_text(from_text));

  write_file("decay.mo", text);
  daedal_model *from_file = daedal_load_file("decay.mo", "M", NULL);
  printf("errors: %u\n", (unsigned)daedal_error_count(from_file));

  /* A library is a folder of packages. */
  mkdir("libraries", 0777);
  mkdir("libraries/Small", 0777);
  write_file("libraries/Small/package.mo", "package Small\n  model Decay\n    Real x(start = 1);\n  equation\n    der(x) = -x;\n  end Decay;\nend Small;\n");
  daedal_load_options options = {.size = sizeof options, .modelica_path = "libraries", .class_name = "Small.Decay"};
  daedal_model *from_library = daedal_load(NULL, NULL, 0, &options);
  printf("%s: status %d\n", daedal_model_name(from_library), daedal_status_of(from_library));

  daedal_library_counts counts;
  daedal_model *parsed = daedal_parse_libraries(&options, &counts);
  printf("%u classes in %u file, the first model is %s\n", (unsigned)counts.classes, (unsigned)counts.files, daedal_library_model(parsed, 0));

  daedal_model *checked = daedal_check_fmu("decay.mo", NULL); /* not an FMU: its status says so */
  printf("decay.mo as an FMU: %s\n", daedal_status_of(checked) == DAEDAL_OK ? "fine" : "refused");
  daedal_free(checked);
  daedal_free(parsed);
  daedal_free(from_library);
  daedal_free(from_file);
  daedal_free(from_text);
  return 0;
}

/* Output:
 * M: model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;
 * errors: 0
 * Decay: status 0
 * 2 classes in 1 file, the first model is Small.Decay
 * decay.mo as an FMU: refused
 */
