/* svg: shared by all pictures: document frame, escaped text, colours. */
#pragma once

#include "base/vec.h"

/* The colours of Okabe and Ito (2008), which stay distinct for colour-blind readers, without the yellow, which is hard to see on
 * white. */
enum { SVG_COLOURS = 7 };
const char *svg_colour(uint32_t index);

/* Opens a document of this size on a white background (it scales with its container); closes it. */
void svg_begin(Heap *heap, TextVec *text, double width, double height, const char *title);
void svg_end(Heap *heap, TextVec *text);

/* Appends text with markup escaped, control characters dropped, bytes that are not UTF-8 replaced, and a leading hyphen before a
 * digit as a minus sign; shortened in the middle to about `most` characters. */
void svg_escape(Heap *heap, TextVec *text, const char *words, uint32_t most);

/* A text element with the words, which are escaped as by svg_escape. */
void svg_words(Heap *heap, TextVec *text, double x, double y, const char *attributes, const char *words, uint32_t most);

/* Like text_printf, with only %s, %d and %f: a number has at most two decimals, which is enough for coordinates, and a decimal
 * point in any locale. */
__attribute__((format(printf, 3, 4))) void svg_print(Heap *heap, TextVec *text, const char *format, ...);
