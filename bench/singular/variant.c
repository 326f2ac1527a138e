/* One run of a model through the public interface, with the check for singular Jacobians as it is, with the check before the run made
 * twice, or without the watch along the run: the differences are what they cost. Linked with --wrap for the two functions.
 *
 *   variant MODEL plain|twice|unwatched
 */
#include "array/regular.h"
#include "daedal.h"
#include "watch/turning.h"

#include <stdio.h>
#include <string.h>

static const char *variant;

void __real_regular_check(const Problem *problem, const Structure *structure, const Samples *samples, Arena *arena,
                          SingularVec *singular);
void __wrap_regular_check(const Problem *problem, const Structure *structure, const Samples *samples, Arena *arena,
                          SingularVec *singular);
Turning *__real_turning_new(Heap *heap, View *view, const TurningPlan *plan);
Turning *__wrap_turning_new(Heap *heap, View *view, const TurningPlan *plan);

void __wrap_regular_check(const Problem *problem, const Structure *structure, const Samples *samples, Arena *arena,
                          SingularVec *singular) {
  SingularVec again = {0};
  __real_regular_check(problem, structure, samples, arena, singular);
  if (!strcmp(variant, "twice")) __real_regular_check(problem, structure, samples, arena, &again);
  vec_free(arena->heap, &again);
}

Turning *__wrap_turning_new(Heap *heap, View *view, const TurningPlan *plan) {
  return strcmp(variant, "unwatched") ? __real_turning_new(heap, view, plan) : NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  variant = argv[2];
  daedal_model *model = daedal_load_file(argv[1], NULL, NULL);
  if (!model || daedal_status_of(model) != DAEDAL_OK) return 3;
  daedal_options options = daedal_default_options();
  daedal_result *result = daedal_simulate(model, &options);
  if (!result || daedal_status_of(result) != DAEDAL_OK) return 6;
  daedal_free(result);
  daedal_free(model);
  return 0;
}
