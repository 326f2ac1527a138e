/* svg: see svg.h. */
#include "result/svg.h"

#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *svg_colour(uint32_t index) {
  static const char *const colour[SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#000000"};
  return colour[index % SVG_COLOURS];
}

static void put(Heap *heap, TextVec *text, const char *bytes) { text_append(heap, text, bytes, strlen(bytes)); }

static void escape_character(Heap *heap, TextVec *text, const char *at, size_t size) {
  unsigned char c = (unsigned char)*at;
  if (size == 0) put(heap, text, "\xef\xbf\xbd");
  else if (c == '&') put(heap, text, "&amp;");
  else if (c == '<') put(heap, text, "&lt;");
  else if (c == '>') put(heap, text, "&gt;");
  else if (c == '"') put(heap, text, "&quot;");
  else if (c == '\n') put(heap, text, " ");
  else if (c >= 0x20 && c != 0x7f) text_append(heap, text, at, size);
}

void svg_escape(Heap *heap, TextVec *text, const char *words, uint32_t most) {
  size_t count = utf8_count(words), length = strlen(words), keep = most / 2, seen = 0;
  bool number = words[0] == '-' && words[1] >= '0' && words[1] <= '9';
  for (size_t i = 0; i < length; seen++) {
    size_t size = utf8_length(words + i, length - i);
    bool shown = count <= most || seen < keep || seen >= count - (most - keep);
    if (number && i == 0) put(heap, text, "\xe2\x88\x92");
    else if (shown) escape_character(heap, text, words + i, size);
    else if (seen == keep) put(heap, text, "…");
    i += size ? size : 1;
  }
}

void svg_print(Heap *heap, TextVec *text, const char *format, ...) {
  va_list list;
  va_start(list, format);
  for (const char *at = format; *at;) {
    size_t plain = strcspn(at, "%");
    text_append(heap, text, at, plain);
    at += plain;
    if (!*at) break;
    char number[NUMBER_SIZE];
    switch (at[1]) {
    case 's': put(heap, text, va_arg(list, const char *)); break;
    case 'd': text_printf(heap, text, "%d", va_arg(list, int)); break;
    case 'f':
      text_append(heap, text, number, number_format(round(va_arg(list, double) * 100) / 100 + 0.0, 9, number));
      break;
    default: put(heap, text, "%"); break;
    }
    at += 2;
  }
  va_end(list);
}

void svg_words(Heap *heap, TextVec *text, double x, double y, const char *attributes, const char *words,
               uint32_t most) {
  svg_print(heap, text, "<text x=\"%f\" y=\"%f\"%s%s>", x, y, *attributes ? " " : "", attributes);
  svg_escape(heap, text, words, most);
  put(heap, text, "</text>\n");
}

void svg_begin(Heap *heap, TextVec *text, double width, double height, const char *title) {
  svg_print(heap, text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %f %f\" width=\"%f\" "
            "style=\"max-width:100%%;height:auto\" font-family=\"Helvetica,Arial,'DejaVu Sans',sans-serif\" "
            "font-size=\"12\" fill=\"#333\">\n",
            width, height, width);
  if (title) {
    put(heap, text, "<title>");
    svg_escape(heap, text, title, UINT32_MAX);
    put(heap, text, "</title>\n");
  }
  put(heap, text, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

void svg_end(Heap *heap, TextVec *text) { put(heap, text, "</svg>\n"); }
