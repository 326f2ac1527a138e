/* external: arguments, results and objects, shared by all functions (external.h). */
#include "external/foreign.h"
#include "external/functions.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

bool external_fail(ExternalCall *call, const char *format, ...) {
  va_list list;
  va_start(list, format);
  call->failure = arena_vprintf(call->arena, format, list);
  va_end(list);
  return false;
}

/* An Integer is accepted where a Real is expected. */
static bool value_fits(const ExternalValue *value, char letter) {
  bool is_array = isupper((unsigned char)letter);
  ExternalType expected = (ExternalType)tolower((unsigned char)letter);
  bool is_type = value->type == expected || (expected == EXTERNAL_REAL && value->type == EXTERNAL_INTEGER);
  return is_type && is_array == (value->dimensions > 0);
}

static bool signature_fits(const ExternalCall *call) {
  const char *letter = call->function->signature;
  if (!letter) return true;
  if (*letter == '=' ? call->result.type != EXTERNAL_NOTHING : !value_fits(&call->result, *letter++)) return false;
  letter++;
  if (strlen(letter) != call->count) return false;
  for (uint32_t i = 0; i < call->count; i++)
    if (!value_fits(&call->arguments[i], letter[i])) return false;
  return true;
}

bool external_run(ExternalCall *call) {
  call->failure = "it gave no reason";
  if (!signature_fits(call)) return external_fail(call, "`%s` is declared with wrong arguments", call->function->name);
  return call->function->run(call);
}

bool external_may_read(ExternalCall *call, const char *path) {
  char real[PATH_MAX];
  const ExternalRights *rights = call->function->rights;
  call->lacks_right = !reading_allows(rights ? &rights->reading : NULL, path, real);
  return !call->lacks_right ||
         external_fail(
             call, "`%s` is outside of the folders of the model and the libraries: --allow-read DIR lets it be read",
             path);
}

double external_number(const ExternalCall *call, uint32_t position) { return call->arguments[position].numbers[0]; }

int64_t external_integer(const ExternalCall *call, uint32_t position) {
  double number = external_number(call, position);
  return number >= -0x1p53 && number <= 0x1p53 ? (int64_t)number : 0;
}

const char *external_text(const ExternalCall *call, uint32_t position) { return call->arguments[position].texts[0]; }

bool external_give(ExternalCall *call, double result) {
  call->result.numbers[0] = result;
  return true;
}

bool external_give_text(ExternalCall *call, const char *text, size_t length) {
  call->result.texts[0] = arena_copy(call->arena, text, length);
  return true;
}

/* ---- objects ---- */

/* Its address is the key of the state in a heap. */
static const char EXTERNAL_STATE;

ExternalState *external_state(Heap *heap) {
  ExternalState *state = heap_guest(heap, &EXTERNAL_STATE);
  if (state) return state;
  state = heap_alloc(heap, sizeof *state);
  state->heap = heap;
  heap_set_guest(heap, &EXTERNAL_STATE, state);
  return state;
}

double external_handle(ExternalInstance *object) { return (double)(uintptr_t)object; }

ExternalInstance *external_instance(double handle) {
  return handle > 0 && handle < 0x1p53 ? (ExternalInstance *)(uintptr_t)handle : NULL;
}

bool external_give_object(ExternalCall *call, const void *kind, void *content, bool is_shared) {
  ExternalInstance *object = heap_alloc(call->state->heap, sizeof *object);
  *object = (ExternalInstance){.kind = kind, .content = content, .is_shared = is_shared};
  call->result.object = object;
  return true;
}

void *external_content(ExternalCall *call, uint32_t position, const void *kind) {
  const ExternalInstance *object = call->arguments[position].object;
  if (object && object->kind == kind) return object->content;
  external_fail(call, "argument %u of `%s` is not an object that its constructor made", position + 1,
                call->function->name);
  return NULL;
}

/* Nothing to do: objects are freed with their heap, and files are never left open. */
bool external_close(ExternalCall *call) {
  (void)call;
  return true;
}

/* ---- libraries ---- */

typedef void (*Address)(void);

/* POSIX allows the conversion of an object pointer to a function pointer; C does not. */
static Address as_address(void *symbol) {
  Address address;
  memcpy(&address, &symbol, sizeof address);
  return address;
}

/* The address of a function of a library. In code that daedal compiled, the function may be static; then another function returns
 * its address. */
Address external_address(const ExternalRights *rights, const char *name) {
  char teller[256];
  snprintf(teller, sizeof teller, EXTERNAL_TELLER "%s", name);
  for (uint32_t i = 0; rights && i < rights->libraries.count; i++) {
    void *symbol = dlsym(rights->libraries.data[i], name), *told = dlsym(rights->libraries.data[i], teller);
    Address tell = as_address(told);
    if (told) return ((Address(*)(void))tell)();
    if (symbol) return as_address(symbol);
  }
  return NULL;
}
