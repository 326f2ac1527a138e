/* number: see number.h. Digits come from products of 192 bits; if they do not decide how to round, the C library converts the
 * value. It gets or gives texts without a decimal point, or with one at a known place, so the locale does not matter. */
#include "base/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

static const uint64_t power_of_ten[18] = {1u,
                                          10u,
                                          100u,
                                          1000u,
                                          10000u,
                                          100000u,
                                          1000000u,
                                          10000000u,
                                          100000000u,
                                          1000000000u,
                                          10000000000u,
                                          100000000000u,
                                          1000000000000u,
                                          10000000000000u,
                                          100000000000000u,
                                          1000000000000000u,
                                          10000000000000000u,
                                          100000000000000000u};

/* A positive value as digits * 10^(exponent - (count - 1)), the first digit not zero. */
typedef struct Decimal {
  uint64_t digits;
  int count, exponent;
} Decimal;

/* 5^q for 0 <= q < STRIDE, exact. */
enum { STRIDE = 27 };
static const uint64_t power_of_five[STRIDE] = {1u,
                                               5u,
                                               25u,
                                               125u,
                                               625u,
                                               3125u,
                                               15625u,
                                               78125u,
                                               390625u,
                                               1953125u,
                                               9765625u,
                                               48828125u,
                                               244140625u,
                                               1220703125u,
                                               6103515625u,
                                               30517578125u,
                                               152587890625u,
                                               762939453125u,
                                               3814697265625u,
                                               19073486328125u,
                                               95367431640625u,
                                               476837158203125u,
                                               2384185791015625u,
                                               11920928955078125u,
                                               59604644775390625u,
                                               298023223876953125u,
                                               1490116119384765625u};

/* 10^(STRIDE*k) for -13 <= k <= 13, rounded to factor * 2^binary. */
typedef struct Stride {
  uint64_t factor;
  int binary;
} Stride;

static const Stride strides[] = {
    {0x8049a4ac0c5811aeu, -1229}, {0xcf42894a5dce35eau, -1140}, {0xa76c582338ed2622u, -1050},
    {0x873e4f75e2224e68u, -960},  {0xda7f5bf590966849u, -871},  {0xb080392cc4349dedu, -781},
    {0x8e938662882af53eu, -691},  {0xe65829b3046b0afau, -602},  {0xba121a4650e4ddecu, -512},
    {0x964e858c91ba2655u, -422},  {0xf2d56790ab41c2a3u, -333},  {0xc428d05aa4751e4du, -243},
    {0x9e74d1b791e07e48u, -153},  {0x8000000000000000u, -63},   {0xcecb8f27f4200f3au, 26},
    {0xa70c3c40a64e6c52u, 116},   {0x86f0ac99b4e8dafdu, 206},   {0xda01ee641a708deau, 295},
    {0xb01ae745b101e9e4u, 385},   {0x8e41ade9fbebc27du, 475},   {0xe5d3ef282a242e82u, 564},
    {0xb9a74a0637ce2ee1u, 654},   {0x95f83d0a1fb69cd9u, 744},   {0xf24a01a73cf2dcd0u, 833},
    {0xc3b8358109e84f07u, 923},   {0x9e19db92b4e31ba9u, 1013},  {0xff6d0b3492801151u, 1102}};

/* value = mantissa * 2^binary, the first bit of the mantissa set. */
static uint64_t split(double value, int *binary) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int biased = (int)(bits >> 52);
  uint64_t fraction = bits << 11, mantissa = biased ? fraction | (uint64_t)1 << 63 : fraction;
  int leading = __builtin_clzll(mantissa);
  *binary = (biased ? biased : 1) - 1086 - leading;
  return mantissa << leading;
}

/* The upper 128 of the 192 bits of a product. */
static Wide multiply(Wide a, uint64_t b) { return (a >> 64) * b + (((a & UINT64_MAX) * b) >> 64); }

/* mantissa * 2^binary * 10^q, rounded to an integer. false: the product, whose error is below 2^64, does not decide how to
 * round. */
static bool scale(uint64_t mantissa, int binary, int q, uint64_t *rounded) {
  int rest = ((q % STRIDE) + STRIDE) % STRIDE;
  const Stride *stride = &strides[13 + (q - rest) / STRIDE];
  Wide product = (Wide)mantissa * power_of_five[rest];
  int leading = __builtin_clzll((uint64_t)(product >> 64) | 1);
  product = multiply(product << leading, stride->factor);
  int shift = -(binary + rest - leading + stride->binary + 64);
  if (shift <= 66 || shift >= 128) return false;
  Wide whole = product >> shift, part = product - (whole << shift), half = (Wide)1 << (shift - 1);
  Wide distance = part > half ? part - half : half - part;
  *rounded = (uint64_t)whole + (part > half);
  return distance > (Wide)1 << 65;
}

static bool decimal_fast(double value, int count, Decimal *out) {
  int binary;
  uint64_t mantissa = split(value, &binary), digits;
  int exponent = (int)floor((binary + 63) * 0.30102999566398120); /* exact, or one too small */
  if (!scale(mantissa, binary, count - 1 - exponent, &digits)) return false;
  if (digits >= power_of_ten[count] && !scale(mantissa, binary, count - 1 - ++exponent, &digits)) return false;
  *out = (Decimal){digits, count, exponent};
  return true;
}

/* Any positive value through printf; skips the decimal point of any locale. */
static Decimal decimal_printf(double value, int count) {
  char text[64];
  snprintf(text, sizeof text, "%.*e", count - 1, value);
  Decimal out = {0, count, 0};
  const char *at = text;
  for (; *at != 'e'; at++)
    if (*at >= '0' && *at <= '9') out.digits = out.digits * 10 + (uint64_t)(*at - '0');
  out.exponent = atoi(at + 1);
  return out;
}

/* Writes at least two digits, like printf. */
static char *put_exponent(char *at, int exponent) {
  int size = abs(exponent);
  *at++ = 'e';
  *at++ = exponent < 0 ? '-' : '+';
  if (size >= 100) *at++ = (char)('0' + size / 100);
  *at++ = (char)('0' + size / 10 % 10);
  *at++ = (char)('0' + size % 10);
  return at;
}

/* Writes the digits, two at a time. Returns their number without the zeros at the end. */
static int spell(Decimal decimal, char digits[20]) {
  static const char pairs[] =
      "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
      "555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
  int at = decimal.count;
  for (; at >= 2; at -= 2, decimal.digits /= 100) memcpy(digits + at - 2, pairs + 2 * (decimal.digits % 100), 2);
  if (at) digits[0] = (char)('0' + decimal.digits % 10);
  for (at = decimal.count; at > 1 && digits[at - 1] == '0';) at--;
  return at;
}

static char *put(char *at, const char *digits, int count) {
  memcpy(at, digits, (size_t)count);
  return at + count;
}

/* Writes the digits with the decimal point after the first `whole`, and zeros if there are no digits. */
static char *put_digits(char *at, const char *digits, int count, int whole) {
  static const char zeros[20] = "0000000000000000000";
  if (whole <= 0) return put(put(put(at, "0.", 2), zeros, -whole), digits, count);
  if (whole >= count) return put(put(at, digits, count), zeros, whole - count);
  at = put(at, digits, whole);
  *at++ = '.';
  return put(at, digits + whole, count - whole);
}

/* Formats the digits as "%g" does. */
static size_t layout(Decimal decimal, bool negative, int precision, char *out) {
  char digits[20], *at = out;
  int count = spell(decimal, digits);
  bool scientific = decimal.exponent < -4 || decimal.exponent >= precision;
  if (negative) *at++ = '-';
  at = put_digits(at, digits, count, scientific ? 1 : decimal.exponent + 1);
  if (scientific) at = put_exponent(at, decimal.exponent);
  *at = '\0';
  return (size_t)(at - out);
}

static size_t copy_word(const char *word, char *out) {
  strcpy(out, word);
  return strlen(word);
}

size_t number_format(double value, int digits, char out[NUMBER_SIZE]) {
  if (isnan(value)) return copy_word("nan", out);
  if (isinf(value)) return copy_word(value < 0 ? "-inf" : "inf", out);
  bool negative = signbit(value);
  double size = fabs(value);
  if (size == 0) return copy_word(negative ? "-0" : "0", out);
  Decimal decimal;
  if (!decimal_fast(size, digits, &decimal)) decimal = decimal_printf(size, digits);
  return layout(decimal, negative, digits, out);
}

size_t number_shortest(double value, char out[NUMBER_SIZE]) {
  for (int digits = 15; digits < 17; digits++) {
    size_t length = number_format(value, digits, out);
    double again;
    if (!isfinite(value) || (number_parse(out, out + length, &again) && again == value)) return length;
  }
  return number_format(value, 17, out);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool word_is(const char *text, const char *end, const char *word) {
  for (; text < end && *word; text++, word++)
    if ((*text | 0x20) != *word) return false;
  return text == end && !*word;
}

static bool parse_word(const char *text, const char *end, double *value) {
  static const struct {
    const char *word;
    double value;
  } words[] = {{"nan", (double)NAN}, {"inf", HUGE_VAL}, {"infinity", HUGE_VAL}, {"true", 1}, {"false", 0}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!word_is(text, end, words[i].word)) continue;
    *value = words[i].value;
    return true;
  }
  return false;
}

/* The significant digits of a number. Digits beyond the first 770 affect the nearest double only if one of them is not zero; then a
 * last digit 1 is appended. */
enum { DIGITS_KEPT = 770 };

typedef struct Digits {
  char text[DIGITS_KEPT + 2];
  int count;
  int64_t exponent; /* value = text * 10^exponent */
  bool more;        /* a later digit was not zero */
} Digits;

static const char *scan_digits(const char *at, const char *end, bool fraction, Digits *digits) {
  for (; at < end && is_digit(*at); at++) {
    if (fraction) digits->exponent--;
    if (*at == '0' && digits->count == 0) continue;
    if (digits->count < DIGITS_KEPT) {
      digits->text[digits->count++] = *at;
    } else {
      digits->more |= *at != '0';
      digits->exponent++;
    }
  }
  return at;
}

static const char *scan_exponent(const char *at, const char *end, Digits *digits) {
  if (at == end || (*at != 'e' && *at != 'E')) return at;
  const char *start = at++;
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  if (at == end || !is_digit(*at)) return start;
  int64_t exponent = 0; /* larger exponents stop growing: they are beyond every double */
  for (; at < end && is_digit(*at); at++) exponent = exponent < 100000000000 ? exponent * 10 + (*at - '0') : exponent;
  digits->exponent += negative ? -exponent : exponent;
  return at;
}

static double digits_value(Digits *digits) {
  static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (digits->count == 0) return 0;
  if (digits->count <= 15 && llabs(digits->exponent) <= 22) { /* both factors are exact, so there is one rounding */
    uint64_t whole = 0;
    for (int i = 0; i < digits->count; i++) whole = whole * 10 + (uint64_t)(digits->text[i] - '0');
    double value = (double)whole;
    return digits->exponent < 0 ? value / exact[-digits->exponent] : value * exact[digits->exponent];
  }
  if (digits->more) digits->text[digits->count++] = '1', digits->exponent--;
  char text[DIGITS_KEPT + 32];
  memcpy(text, digits->text, (size_t)digits->count);
  snprintf(text + digits->count, 24, "e%lld", (long long)digits->exponent);
  return strtod(text, NULL); /* no decimal point, so the locale does not matter */
}

bool number_parse(const char *text, const char *end, double *value) {
  while (text < end && is_blank(*text)) text++;
  while (text < end && is_blank(end[-1])) end--;
  bool negative = text < end && *text == '-';
  if (text < end && (*text == '-' || *text == '+')) text++;
  double size;
  if (text < end && !is_digit(*text) && *text != '.') {
    if (!parse_word(text, end, &size)) return false;
  } else {
    Digits digits;
    digits.exponent = digits.count = 0;
    digits.more = false;
    const char *at = scan_digits(text, end, false, &digits);
    const char *fraction = at;
    if (at < end && *at == '.') at = scan_digits(at + 1, end, true, &digits);
    if (at == text || (fraction == text && at == text + 1)) return false;
    if (scan_exponent(at, end, &digits) != end) return false;
    size = digits_value(&digits);
  }
  *value = negative ? -size : size;
  return true;
}

bool number_is_big_endian(void) {
  const uint16_t probe = 1;
  unsigned char first;
  memcpy(&first, &probe, 1);
  return first == 0;
}
