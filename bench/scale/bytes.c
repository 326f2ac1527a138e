/* bytes MODEL CLASS STOP [RUNS PARAMETER FROM TO]: loads a model, makes a plan and runs it to the stop time; CLASS "" is the
 * last one. Prints one line of JSON: the number of equations, the bytes held after loading and after planning, and the most
 * bytes held while loading, planning and running. With RUNS, further runs of the plan follow with a parameter between two
 * values, and the line has the number of structures for which equations were derived. Memory that linear algebra takes with
 * malloc is not counted. */
#include "daedal.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Count {
  size_t now, most;
  void *last; /* the block of the last call */
} Count;

/* A block that is freed at once does not count: it only tested whether there is room. */
static void *resize(void *context, void *pointer, size_t size) {
  Count *count = context;
  size_t before = pointer ? malloc_usable_size(pointer) : 0;
  if ((size || pointer != count->last) && count->now > count->most) count->most = count->now;
  count->last = NULL;
  if (!size) {
    free(pointer);
    count->now -= before;
    return NULL;
  }
  void *made = realloc(pointer, size);
  if (!made) return NULL;
  count->now += malloc_usable_size(made) - before;
  return count->last = made;
}

/* The largest number since the last call, and the present one. */
static void print_count(const char *key, Count *count) {
  printf(", \"%s\": {\"peak\": %zu, \"held\": %zu}", key, count->most, count->now);
  count->most = count->now;
}

static bool sweep(daedal_plan *plan, int runs, const char *parameter, double from, double to) {
  daedal_run *run = daedal_run_make(plan);
  bool ok = run != NULL;
  for (int k = 0; k < runs && ok; k++)
    ok = daedal_run_set(run, parameter, from + (to - from) * k / runs) == DAEDAL_OK &&
         daedal_run_execute(run) == DAEDAL_OK;
  daedal_free(run);
  return ok;
}

int main(int argument_count, char **arguments) {
  if (argument_count != 4 && argument_count != 8) return 2;
  Count count = {0};
  daedal_allocator allocator = {.resize = resize, .context = &count};
  daedal_load_options load = {
      .size = sizeof load, .class_name = *arguments[2] ? arguments[2] : NULL, .allocator = &allocator};
  daedal_model *model = daedal_load(arguments[1], NULL, 0, &load);
  if (daedal_status_of(model) != DAEDAL_OK) return 1;
  printf("{\"equations\": %u", daedal_model_counts(model).equations);
  print_count("load", &count);
  daedal_options options = daedal_default_options();
  options.stop_time = atof(arguments[3]);
  options.intervals = 1;
  options.no_event_rows = true;
  daedal_plan *plan = daedal_plan_make(model, &options);
  if (daedal_status_of(plan) != DAEDAL_OK) return 1;
  print_count("plan", &count);
  daedal_run *run = daedal_run_make(plan);
  bool ok = daedal_run_execute(run) == DAEDAL_OK;
  daedal_free(run);
  print_count("run", &count);
  if (argument_count == 8 && ok) {
    ok = sweep(plan, atoi(arguments[4]), arguments[5], atof(arguments[6]), atof(arguments[7]));
    printf(", \"structures\": %u", daedal_plan_structures(plan));
    print_count("sweep", &count);
  }
  printf("}\n");
  daedal_free(plan);
  daedal_free(model);
  return !ok;
}
