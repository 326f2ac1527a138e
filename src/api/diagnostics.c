/* diagnostics: the messages, in the form of daedal.h. */
#include "api/handles.h"

static const daedal_diagnostic OUT_OF_MEMORY = {.severity = DAEDAL_ERROR,
                                                .status = DAEDAL_INTERNAL,
                                                .message = "out of memory",
                                                .place = {.path = ""},
                                                .code = "D100"};

/* The value for an index past the last message. */
static const daedal_diagnostic NO_DIAGNOSTIC = {.message = "", .place = {.path = ""}, .code = ""};

static daedal_place place_of(const Source *source, Span span, Arena *arena) {
  bool is_known = source_holds(source, span);
  const SourceFile *file = is_known ? source_file(source, span.begin) : source_main(source);
  daedal_place place = {.path = file->path ? file->path : ""};
  if (!is_known) return place;
  place.line = source_line(source, span.begin);
  place.column = source_column(source, span.begin);
  uint32_t begin = file->lines.data[place.line - 1];
  uint32_t end = place.line < file->lines.count ? file->lines.data[place.line] : file->length;
  while (end > begin && (file->text[end - 1] == '\n' || file->text[end - 1] == '\r')) end--;
  uint32_t stop = span.end - file->begin < end ? span.end - file->begin : end;
  for (uint32_t k = span.begin - file->begin; k < stop; k++)
    place.length += ((unsigned char)file->text[k] & 0xc0) != 0x80;
  place.text = arena_copy(arena, file->text + begin, end - begin);
  return place;
}

static void publish(Published *published, const Diags *diags, const Source *source, Heap *heap) {
  if (!published->arena.heap) published->arena = arena_make(heap);
  Arena *arena = &published->arena;
  for (uint32_t k = published->list.count; k < diags->list.count; k++) {
    const Diag *diag = &diags->list.data[k];
    daedal_note *notes = arena_array(arena, diag->notes.count, sizeof *notes);
    for (uint32_t n = 0; n < diag->notes.count; n++)
      notes[n] = (daedal_note){diag->notes.data[n].message, place_of(source, diag->notes.data[n].span, arena)};
    vec_push(heap, &published->list,
             ((daedal_diagnostic){.severity = (daedal_severity)diag->severity,
                                  .status = (daedal_status)diag->code,
                                  .message = diag->message,
                                  .place = place_of(source, diag->span, arena),
                                  .notes = notes,
                                  .note_count = diag->notes.count,
                                  .code = diag->label}));
  }
}

daedal_diagnostic published_get(const Published *published, bool broken, uint32_t index) {
  uint32_t count = published ? published->list.count : 0;
  if (index < count) return published->list.data[index];
  return broken && index == count ? OUT_OF_MEMORY : NO_DIAGNOSTIC;
}

static daedal_code code_at(uint32_t index) {
  const DiagMessage *message = diag_messages();
  while (message->label && index-- > 0) message++;
  return message->label ? (daedal_code){message->label, message->title, message->explanation}
                        : (daedal_code){NULL, "", ""};
}

void daedal_code_get_(uint32_t index, daedal_code *out, size_t size) {
  daedal_code value = code_at(index);
  hand_out(out, size, &value, sizeof value);
}

void publish_model(daedal_model *model) { publish(&model->published, &model->diags, &model->source, model->heap); }

void publish_result(daedal_result *result) {
  publish(&result->published, &result->diags, &result->model->source, result->heap);
}

void publish_files(daedal_files *files) { publish(&files->published, &files->diags, &files->source, files->heap); }

bool result_finish(daedal_result *result, bool ok) {
  result->status = ok ? DAEDAL_OK : (daedal_status)diags_code(&result->diags);
  publish_result(result);
  return ok;
}

uint32_t daedal_error_count(const daedal_model *model) {
  if (!model) return 1;
  model_lock(model);
  uint32_t count = model->diags.errors - model->diags.repeated + model->broken;
  model_unlock(model);
  return count;
}
