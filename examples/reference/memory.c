/* A handle that takes all of its memory from your own allocator, which counts the blocks. */
#include <daedal.h>
#include <stdio.h>
#include <stdlib.h>

static void *resize(void *context, void *pointer, size_t size) {
  size_t *calls = context;
  ++*calls;
  if (size) return realloc(pointer, size);
  free(pointer);
  return NULL;
}

int main(void) {
  const char *text = "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;";
  size_t calls = 0;
  daedal_allocator allocator = {resize, &calls};
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, &allocator);
  printf("status %d, allocator used: %s\n", daedal_status_of(model), calls > 0 ? "yes" : "no");
  daedal_free(model);
  return 0;
}

/* Output:
 * status 0, allocator used: yes
 */
