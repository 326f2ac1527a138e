/* Libraries: classes found by name in directories made by the test; what is read and what is not; versions; invalid files;
 * resources. */
#define _DEFAULT_SOURCE /* strsep */
#include "result/file.h"
#include "syntax/library.h"
#include "syntax/parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct World {
  char folder[32];
  Heap *heap;
  Names names;
  Source source;
  Diags diags;
  Ast *ast;
  Library *library;
} World;

static void write_text(const World *w, const char *path, const char *text) {
  char whole[300];
  for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(whole, sizeof whole, "%s/%.*s", w->folder, (int)(slash - path), path);
    mkdir(whole, 0777);
  }
  snprintf(whole, sizeof whole, "%s/%s", w->folder, path);
  FILE *file = fopen(whole, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int setup(void **state) {
  World *w = calloc(1, sizeof *w);
  strcpy(w->folder, "/tmp/daedal-library-XXXXXX");
  *state = w;
  return w && mkdtemp(w->folder) ? 0 : -1;
}

static int teardown(void **state) {
  World *w = *state;
  char command[64];
  if (w->heap) heap_destroy(w->heap);
  snprintf(command, sizeof command, "rm -rf %s", w->folder);
  int status = system(command);
  free(w);
  return status;
}

static char *read_file(const Reading *reading, Heap *heap, Diags *diags, const char *path, uint32_t *length) {
  (void)reading;
  return file_read(heap, diags, path, length);
}

/* Reads a main file, "" for none, with the directories given below the folder. */
static void open_library(World *w, const char *main, const char *const *directories) {
  char path[900] = "", name[300];
  for (; *directories; directories++)
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s/%s", *path ? ":" : "", w->folder, *directories);
  w->heap = heap_new(NULL);
  w->names = names_make(w->heap);
  w->diags = diags_make(w->heap);
  char *text = "";
  uint32_t length = 0;
  snprintf(name, sizeof name, "%s/%s", w->folder, main);
  if (*main) text = file_read(w->heap, &w->diags, name, &length);
  assert_non_null(text);
  Arena arena = arena_make(w->heap);
  w->source = source_make(w->heap, *main ? arena_copy(&arena, name, strlen(name)) : NULL, text, length);
  w->ast = parse(w->heap, &w->names, &w->source, &w->diags);
  char *copy = arena_copy(&arena, path, strlen(path));
  w->library = library_make(w->ast, &w->source, (LibraryOptions){copy, {read_file, NULL}}, &w->diags);
}

#define OPEN(main, ...) open_library(w, main, (const char *const[]){__VA_ARGS__, NULL})

static Name name_of(World *w, const char *text) { return names_add(&w->names, text, strlen(text)); }

/* The class of a dotted name, through elements and members; NULL if there is none. */
static const AstClass *find_class(World *w, const char *path) {
  char text[200], *rest = text;
  snprintf(text, sizeof text, "%s", path);
  const AstElement *element = library_find(w->library, name_of(w, strsep(&rest, ".")));
  while (element && rest) {
    const AstClass *definition = element->class_definition;
    Name name = name_of(w, strsep(&rest, "."));
    element = NULL;
    for (uint32_t i = 0; i < definition->elements.count; i++)
      if (definition->elements.data[i].kind == AST_CLASS &&
          definition->elements.data[i].class_definition->label.name == name)
        element = &definition->elements.data[i];
    if (!element) element = library_member(w->library, definition, name);
  }
  return element ? element->class_definition : NULL;
}

static const char *comment_of(World *w, const char *path) {
  const AstClass *definition = find_class(w, path);
  return definition ? names_text(&w->names, definition->comment) : "none";
}

static const char *first_message(const World *w) { return w->diags.list.count ? w->diags.list.data[0].message : ""; }

#define assert_said(w, words) assert_non_null(strstr(first_message(w), words))

/* ---- finding ---- */

static void write_example(World *w) {
  write_text(w, "lib/Lib/package.mo", "within;\npackage Lib \"top\"\n  model Own \"own\" end Own;\nend Lib;\n");
  write_text(w, "lib/Lib/package.order", "Two\nOwn\nSub\r\nMissing\n");
  write_text(w, "lib/Lib/Two.mo", "within Lib;\nmodel Two \"two\" end Two;\n");
  write_text(w, "lib/Lib/Broken.mo", "within Lib;\nmodel Broken\n  Real x = ;\nend Broken;\n");
  write_text(w, "lib/Lib/Sub/package.mo", "within Lib;\npackage Sub \"sub\" end Sub;\n");
  write_text(w, "lib/Lib/Sub/Deep.mo", "within Lib.Sub;\nmodel Deep \"deep\" model In \"in\" end In; end Deep;\n");
  write_text(w, "lib/Lib/Resources/data.txt", "1 2\n");
  write_text(w, "lib/Lib/notes.txt", "no class");
  write_text(w, "lib/One.mo", "within ;\npackage One \"one\" model A \"one a\" end A; end One;\n");
}

static void classes_are_found_by_name(void **state) {
  World *w = *state;
  write_example(w);
  write_text(w, "Main.mo", "model Main \"main\" end Main;");
  OPEN("Main.mo", "lib");
  static const char *const cases[][2] = {
      {"Main", "main"},     {"Lib", "top"},           {"Lib.Own", "own"},        {"Lib.Two", "two"},
      {"Lib.Sub", "sub"},   {"Lib.Sub.Deep", "deep"}, {"Lib.Sub.Deep.In", "in"}, {"One.A", "one a"},
      {"Lib.None", "none"}, {"None", "none"},         {"Lib.Resources", "none"}, {"Lib.notes", "none"},
      {"../lib", "none"},   {"Lib./Two", "none"},     {"Lib.package", "none"},   {"Lib.Sub.../Two", "none"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(comment_of(w, cases[i][0]), cases[i][1]);
  assert_int_equal(w->diags.list.count, 0);
}

/* Five files are on the way to Lib.Sub.Deep and One; that of Lib.Broken is not. */
static void only_files_on_the_way_are_read(void **state) {
  World *w = *state;
  write_example(w);
  OPEN("", "lib");
  assert_int_equal(w->source.files.count, 1);
  assert_non_null(find_class(w, "Lib.Sub.Deep"));
  assert_non_null(find_class(w, "Lib.Sub.Deep"));
  assert_int_equal(w->source.files.count, 4);
  assert_null(find_class(w, "Lib.Broken"));
  assert_null(find_class(w, "Lib.Broken"));
  assert_int_equal(w->diags.errors, 1);
  const Diag *diag = &w->diags.list.data[0];
  assert_non_null(strstr(source_file(&w->source, diag->span.begin)->path, "/lib/Lib/Broken.mo"));
  assert_int_equal(source_line(&w->source, diag->span.begin), 3);
}

static void members_stand_in_the_order_of_the_package(void **state) {
  World *w = *state;
  static const char *const expected[] = {"Two", "Sub", "Broken"};
  write_example(w);
  OPEN("", "lib");
  LibraryNames names = library_members(w->library, find_class(w, "Lib"));
  assert_int_equal(names.count, 3);
  for (uint32_t i = 0; i < names.count; i++) assert_string_equal(names_text(&w->names, names.data[i]), expected[i]);
  assert_int_equal(library_members(w->library, find_class(w, "One")).count, 0);
}

static void a_library_may_be_given_itself(void **state) {
  World *w = *state;
  write_example(w);
  OPEN("", "lib/Lib", "lib/One.mo");
  assert_string_equal(comment_of(w, "Lib.Two"), "two");
  assert_string_equal(comment_of(w, "One.A"), "one a");
}

static void a_main_file_finds_its_packages(void **state) {
  World *w = *state;
  write_example(w);
  OPEN("lib/Lib/Sub/Deep.mo", "");
  assert_ptr_equal(find_class(w, "Lib.Sub.Deep"), w->ast->main->classes.data[0]);
  assert_string_equal(comment_of(w, "Lib.Two"), "two");
  assert_int_equal(w->diags.errors, 0);
}

static void a_main_package_finds_its_files(void **state) {
  World *w = *state;
  write_example(w);
  OPEN("lib/Lib/package.mo", "");
  assert_ptr_equal(find_class(w, "Lib"), w->ast->main->classes.data[0]);
  assert_string_equal(comment_of(w, "Lib.Sub.Deep"), "deep");
}

/* ---- versions ---- */

static void write_versions(World *w) {
  static const char text[] =
      "package L \"%s\" annotation(version = \"%s\", conversion(noneFromVersion = \"1.0\")); end L;";
  static const char *const versions[] = {"1.9", "1.10", "2.0.0"};
  for (size_t i = 0; i < 3; i++) {
    char path[60], content[200];
    snprintf(path, sizeof path, "lib/L %s/package.mo", versions[i]);
    snprintf(content, sizeof content, text, versions[i], versions[i]);
    write_text(w, path, content);
  }
}

static void versions_are_chosen(void **state) {
  static const struct {
    const char *asked, *found, *said;
  } cases[] = {{"1.9", "1.9", ""},
               {"1.10", "1.10", ""},
               {"1.0", "2.0.0", ""},
               {"3.0", "2.0.0", "version 3.0 of L is requested, version 2.0.0 is used"}};
  World *w = *state;
  write_versions(w);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char main[100];
    snprintf(main, sizeof main, "model M annotation(uses(L(version = \"%s\"))); end M;", cases[i].asked);
    write_text(w, "Main.mo", main);
    OPEN("Main.mo", "lib");
    assert_string_equal(comment_of(w, "L"), cases[i].found);
    assert_string_equal(first_message(w), cases[i].said);
    assert_int_equal(w->diags.errors, 0);
    heap_destroy(w->heap);
  }
  OPEN("", "lib");
  assert_string_equal(comment_of(w, "L"), "2.0.0");
  heap_destroy(w->heap);
  write_text(w, "lib/L.mo", "package L \"plain\" end L;");
  OPEN("", "lib");
  assert_string_equal(comment_of(w, "L"), "plain");
}

/* The classes of a conversion script, if a different version is requested. */
static void renamed_classes_are_found(void **state) {
  static const struct {
    const char *package, *name, *found;
  } cases[] = {{"L", "Old", "L.New"},
               {"L.New", "Part", "L.New.Piece"},
               {"L", "A", "M.A"},
               {"L", "B", "M.B"},
               {"L.New", "Other", "L.Rest"},
               {"L", "Commented", NULL},
               {"L", "Torn", NULL},
               {"L", "New", NULL},
               {"L", "P", "L.Q"},
               {"L.Old", "Part", NULL}};
  static const char script[] = "// convertClass(\"L.Commented\", \"L.New\");\n"
                               "convertClear(); /* convertClass(\"L.Commented\", \"L.New\") */\n"
                               "convertClass(\"L.Old\", \"L.New\");\n"
                               "convertClass ( { \"L.Old.Part\" , \"L.Old.Other\" }, {\"L.New.Piece\", \"L.Rest\"} )\n"
                               "convertClass({\"L.A\",\"L.B\"},{\"M.A\",\"M.B\"});\n"
                               "convertClass(\"L.P\", \"L.Q\"); convertClass(\"L.Q\", \"L.P\");\n"
                               "convertElement(\"L.Old\", \"x\", \"y\");\n"
                               "convertClass({\"L.Torn\", \"L.New\"";
  static const char library[] = "package L annotation(version = \"2\", conversion(from(version = \"1\", script = "
                                "\"modelica://L/change.mos\"), from(version = \"0\", script = "
                                "\"modelica://L/absent.mos\"))); end L;";
  World *w = *state;
  write_text(w, "lib/L/package.mo", library);
  write_text(w, "lib/L/change.mos", script);
  for (int is_other = 0; is_other < 2; is_other++) {
    write_text(w, "Main.mo", is_other ? "model M annotation(uses(L(version = \"1\"))); end M;" : "model M end M;");
    OPEN("Main.mo", "lib");
    comment_of(w, "L");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      Name package = names_add(w->ast->names, cases[i].package, strlen(cases[i].package));
      Name name = names_add(w->ast->names, cases[i].name, strlen(cases[i].name));
      const char *found = library_renamed(w->library, package, name), *wanted = is_other ? cases[i].found : NULL;
      if (wanted) assert_string_equal(found ? found : "", wanted);
      else assert_null(found);
    }
    assert_int_equal(w->diags.errors, 0);
    heap_destroy(w->heap);
  }
  OPEN("", "lib");
}

static void missing_libraries_are_explained(void **state) {
  World *w = *state;
  write_text(w, "lib/Other.mo", "package Other end Other;");
  write_text(w, "Main.mo", "model M annotation(uses(L(version = \"1.0\"))); end M;");
  OPEN("Main.mo", "lib");
  assert_null(find_class(w, "L"));
  Diag *diag = diag_error(&w->diags, DIAG_INPUT, (Span){0, 1}, "there is no class L");
  library_note_missing(w->library, name_of(w, "L"), diag);
  assert_int_equal(diag->notes.count, 2);
  assert_non_null(strstr(diag->notes.data[0].message, "version 1.0 of L"));
  assert_non_null(strstr(diag->notes.data[1].message, "/lib"));
}

/* ---- files that are wrong ---- */

static void wrong_files_are_reported(void **state) {
  static const struct {
    const char *path, *text, *name, *said;
  } cases[] = {
      {"a/P/A.mo", "within Q; model A end A;", "P.A", "the file is in package P, but says `within Q;`"},
      {"a/P/A.mo", "model A end A;", "P.A", "`within P;` is missing"},
      {"a/P/A.mo", "within P; model B end B;", "P.A", "the file of class A contains `B`"},
      {"a/P/A.mo", "within P; model A end A; model C end C;", "P.A", "`C` is a second one"},
      {"a/P/A.mo", "", "P.A", "the file is empty"},
      {"a/P/A.mo", "within P; model A \xff end A;", "P.A", "invalid UTF-8"},
      {"a/T.mo", "within Q; model T end T;", "T", "the file is at the top, but says `within Q;`"},
      {"a/P/In.mo", "within P; model In end In;", "P", "`In` is both in package.mo and in "},
      {"a/P/A/package.mo", "within P; package A end A;", "P.A", "class A is stored twice"},
  };
  World *w = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_text(w, "a/P/package.mo", "package P model In end In; end P;");
    write_text(w, "a/P/A.mo", "within P; model A end A;");
    write_text(w, cases[i].path, cases[i].text);
    OPEN("", "a");
    find_class(w, cases[i].name);
    assert_said(w, cases[i].said);
    heap_destroy(w->heap);
    w->heap = NULL;
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s/a", w->folder);
    assert_int_equal(system(command), 0);
  }
}

static void absent_directories_are_errors(void **state) {
  World *w = *state;
  OPEN("", "nowhere");
  assert_said(w, "cannot be read");
  assert_int_equal(w->diags.list.data[0].code, DIAG_FILE);
}

/* A link to a directory above makes a package of any depth; a pipe or a broken link is not a file. */
static void links_and_pipes_do_no_harm(void **state) {
  World *w = *state;
  char path[100], target[100];
  write_example(w);
  snprintf(path, sizeof path, "%s/lib/Lib/Loop", w->folder);
  snprintf(target, sizeof target, "%s/lib/Lib", w->folder);
  assert_int_equal(symlink(target, path), 0);
  snprintf(path, sizeof path, "%s/lib/Lib/Gone.mo", w->folder);
  assert_int_equal(symlink("nowhere.mo", path), 0);
  snprintf(path, sizeof path, "%s/lib/Lib/Pipe.mo", w->folder);
  assert_int_equal(mkfifo(path, 0666), 0);
  OPEN("", "lib");
  assert_null(find_class(w, "Lib.Gone"));
  assert_null(find_class(w, "Lib.Pipe"));
  assert_int_equal(w->diags.errors, 0);
  assert_null(find_class(w, "Lib.Loop.Loop.Two"));
  assert_said(w, "the file of class Loop contains `Lib`");
}

/* ---- resources ---- */

static void resources_are_files_of_packages(void **state) {
  static const char *const cases[][2] = {{"modelica://Lib/Resources/data.txt", "/lib/Lib/Resources/data.txt"},
                                         {"modelica://Lib.Sub/a%20b.txt", "/lib/Lib/Sub/a b.txt"},
                                         {"modelica://Lib.Sub.Deep/a.txt", "/lib/Lib/Sub/a.txt"},
                                         {"modelica://Lib.Own.Any/a.txt", "/lib/Lib/a.txt"},
                                         {"modelica://One.A/a.txt", "/lib/a.txt"}};
  World *w = *state;
  Arena arena;
  const char *reason = NULL;
  write_example(w);
  OPEN("", "lib");
  assert_non_null(find_class(w, "Lib"));
  assert_non_null(find_class(w, "One"));
  arena = arena_make(w->heap);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = library_resource(w->library, cases[i][0], &arena, &reason);
    assert_non_null(path);
    assert_string_equal(path + strlen(w->folder), cases[i][1]);
  }
  write_text(w, "lib/Lib/Resources/Weather/Rome.mos", "");
  const char *rome = library_resource(w->library, "modelica://Lib/Resources/weather//rome.MOS", &arena, &reason);
  assert_string_equal(rome + strlen(w->folder), "/lib/Lib/Resources/Weather/Rome.mos");
  assert_non_null(strstr(first_message(w), "upper and lower case differ"));
  assert_string_equal(library_resource(w->library, "file:///a/b%2fc", &arena, &reason), "/a/b/c");
  assert_string_equal(library_resource(w->library, "a/b.txt", &arena, &reason), "a/b.txt");
  assert_non_null(library_resource(w->library, "modelica://Lib/%2e%2e/One.mo", &arena, &reason));
  assert_null(library_resource(w->library, "modelica://Lib/a/%2e%2e/../../One.mo", &arena, &reason));
  assert_string_equal(reason, "`..` leads out of the library's folder");
  assert_null(library_resource(w->library, "modelica://None/a.txt", &arena, &reason));
  assert_string_equal(reason, "there is no library of the class None");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(classes_are_found_by_name),
      CASE(only_files_on_the_way_are_read),
      CASE(members_stand_in_the_order_of_the_package),
      CASE(a_library_may_be_given_itself),
      CASE(a_main_file_finds_its_packages),
      CASE(a_main_package_finds_its_files),
      CASE(versions_are_chosen),
      CASE(renamed_classes_are_found),
      CASE(missing_libraries_are_explained),
      CASE(wrong_files_are_reported),
      CASE(absent_directories_are_errors),
      CASE(links_and_pipes_do_no_harm),
      CASE(resources_are_files_of_packages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
