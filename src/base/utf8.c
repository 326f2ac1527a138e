/* utf8: see utf8.h. */
#include "base/utf8.h"

#include <string.h>

size_t utf8_length(const char *text, size_t room) {
  const unsigned char *byte = (const unsigned char *)text;
  if (byte[0] < 0x80) return 1;
  size_t length = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
  if (byte[0] < 0xc2 || byte[0] > 0xf4 || room < length) return 0;
  for (size_t i = 1; i < length; i++)
    if ((byte[i] & 0xc0) != 0x80) return 0;
  if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f)) return 0;
  if ((byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f)) return 0;
  return length;
}

size_t utf8_count(const char *text) {
  size_t count = 0, room = strlen(text);
  for (size_t i = 0; i < room; count++) {
    size_t length = utf8_length(text + i, room - i);
    i += length ? length : 1;
  }
  return count;
}

size_t utf8_write(uint32_t code, char *out) {
  size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const unsigned char FIRST[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t k = length - 1; k > 0; k--, code >>= 6) out[k] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)(FIRST[length] | code);
  return length;
}
