/* number: see number.h. Values from about 1e-16 to 1e17 are converted in exact 128-bit integers; the rest
 * goes through the C library in forms that hold no decimal point, or with the point's place known, so that
 * the locale does not matter. */
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

/* 5^q for 0 <= q <= 32, below 2^75. */
static Wide power_of_five(int q) {
  static const uint64_t power[28] = {1u,
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
                                     1490116119384765625u,
                                     7450580596923828125u};
  return q < 28 ? power[q] : (Wide)power[27] * power[q - 27];
}

/* floor(mantissa * 2^binary * 10^q) and, in *up, whether rounding to nearest (ties to even) adds one.
 * mantissa < 2^53 and q <= 32, so the product with 5^q is exact in 128 bits. */
static uint64_t scaled_floor(uint64_t mantissa, int binary, int q, bool *up) {
  Wide product = mantissa * power_of_five(q);
  int shift = binary + q;
  *up = false;
  if (shift >= 0) return (uint64_t)(product << shift);
  if (shift <= -128) return 0;
  Wide whole = product >> -shift, rest = product - (whole << -shift), half = (Wide)1 << (-shift - 1);
  *up = rest > half || (rest == half && (whole & 1));
  return (uint64_t)whole;
}

/* Exact conversion; false when the value is outside the range where 128 bits suffice. */
static bool decimal_exact(double value, int count, Decimal *out) {
  if (!(value >= 1e-15 && value < 1e16)) return false;
  int binary;
  uint64_t mantissa = (uint64_t)ldexp(frexp(value, &binary), 53);
  int exponent = (int)floor((binary - 1) * 0.30102999566398120);
  binary -= 53;
  for (;;) { /* the estimate is right or one too small */
    int q = count - 1 - exponent;
    if (q < 0 || q > 32) return false;
    bool up;
    uint64_t digits = scaled_floor(mantissa, binary, q, &up);
    if (digits >= power_of_ten[count]) {
      exponent++;
      continue;
    }
    digits += up;
    if (digits == power_of_ten[count]) digits /= 10, exponent++;
    *out = (Decimal){digits, count, exponent};
    return true;
  }
}

/* Any positive value through printf; whatever stands for the decimal point is skipped. */
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

/* At least two digits, as printf. */
static char *put_exponent(char *at, int exponent) {
  int size = abs(exponent);
  *at++ = 'e';
  *at++ = exponent < 0 ? '-' : '+';
  if (size >= 100) *at++ = (char)('0' + size / 100);
  *at++ = (char)('0' + size / 10 % 10);
  *at++ = (char)('0' + size % 10);
  return at;
}

/* Lays the digits out as "%g" does. */
static size_t layout(Decimal decimal, bool negative, int precision, char *out) {
  while (decimal.count > 1 && decimal.digits % 10 == 0) decimal.digits /= 10, decimal.count--;
  char digits[20];
  for (int i = decimal.count; i-- > 0; decimal.digits /= 10) digits[i] = (char)('0' + decimal.digits % 10);
  char *at = out;
  if (negative) *at++ = '-';
  bool scientific = decimal.exponent < -4 || decimal.exponent >= precision;
  int whole = scientific ? 1 : decimal.exponent + 1; /* digits before the point */
  if (whole <= 0) {
    *at++ = '0';
    *at++ = '.';
    for (int i = whole; i < 0; i++) *at++ = '0';
  }
  for (int i = 0; i < decimal.count || i < whole; i++) {
    if (i == whole && whole > 0) *at++ = '.';
    *at++ = i < decimal.count ? digits[i] : '0';
  }
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
  if (!decimal_exact(size, digits, &decimal)) decimal = decimal_printf(size, digits);
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

/* The significant digits of a number. Beyond 770 no digit can change the nearest double except by not being
 * zero, which a last digit 1 records. */
enum { DIGITS_KEPT = 770 };

typedef struct Digits {
  char text[DIGITS_KEPT + 2];
  int count;
  long exponent; /* value = text * 10^exponent */
  bool more;     /* a digit beyond was not zero */
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
  long exponent = 0; /* kept within bounds that are beyond every double whatever the digits are */
  for (; at < end && is_digit(*at); at++) exponent = exponent < 100000000000L ? exponent * 10 + (*at - '0') : exponent;
  digits->exponent += negative ? -exponent : exponent;
  return at;
}

static double digits_value(Digits *digits) {
  static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (digits->count == 0) return 0;
  if (digits->count <= 15 && labs(digits->exponent) <= 22) { /* both factors exact: one rounding */
    uint64_t whole = 0;
    for (int i = 0; i < digits->count; i++) whole = whole * 10 + (uint64_t)(digits->text[i] - '0');
    double value = (double)whole;
    return digits->exponent < 0 ? value / exact[-digits->exponent] : value * exact[digits->exponent];
  }
  if (digits->more) digits->text[digits->count++] = '1', digits->exponent--;
  char text[DIGITS_KEPT + 32];
  memcpy(text, digits->text, (size_t)digits->count);
  snprintf(text + digits->count, 24, "e%ld", digits->exponent);
  return strtod(text, NULL); /* no point: the locale does not matter */
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
