/* vectors: see vectors.h. */
#include "integrate/vectors.h"

#include <stdlib.h>

/* The content of a serial vector, followed by the heap. */
typedef struct Content {
  struct _N_VectorContent_Serial serial;
  Heap *heap;
} Content;

static N_Vector clone(N_Vector like) {
  const Content *content = like->content;
  return vector_new(content->heap, content->serial.length, like->sunctx);
}

static void destroy(N_Vector vector) {
  Content *content = vector->content;
  vector->content = NULL;
  heap_free(content->heap, content->serial.data);
  heap_free(content->heap, content);
  N_VFreeEmpty(vector);
}

N_Vector vector_new(Heap *heap, sunindextype length, SUNContext context) {
  Content *content = heap_alloc(heap, sizeof *content);
  double *data = heap_array(heap, (size_t)length, sizeof *data);
  N_Vector vector = N_VNewEmpty_Serial(length, context);
  if (!vector) heap_fail(heap);
  free(vector->content);
  *content = (Content){{length, SUNFALSE, data}, heap};
  vector->content = content;
  vector->ops->nvclone = clone;
  vector->ops->nvcloneempty = clone;
  vector->ops->nvdestroy = destroy;
  return vector;
}

typedef struct MatrixContent {
  struct _SUNMatrixContent_Dense dense;
  Heap *heap;
} MatrixContent;

static SUNMatrix clone_matrix(SUNMatrix like) {
  const MatrixContent *content = like->content;
  return vector_matrix(content->heap, content->dense.N, like->sunctx);
}

SUNMatrix vector_matrix(Heap *heap, sunindextype size, SUNContext context) {
  SUNMatrix matrix = SUNDenseMatrix(size, size, context);
  MatrixContent *content = matrix ? realloc(matrix->content, sizeof *content) : NULL;
  if (!content && matrix) SUNMatDestroy(matrix);
  if (!content) heap_fail(heap);
  content->heap = heap;
  matrix->content = content;
  matrix->ops->clone = clone_matrix;
  return matrix;
}

SUNContext vector_context(Heap *heap) {
  enum { CONTEXT_SIZE = 1 << 16 }; /* more than all parts together */
  SUNContext context = NULL;
  heap_expect(heap, CONTEXT_SIZE);
  if (SUNContext_Create(NULL, &context) != 0) heap_fail(heap);
  return context;
}

void vector_ignore(int code, const char *module, const char *function, char *message, void *self) {
  (void)code, (void)module, (void)function, (void)message, (void)self;
}
