/* libFuzzer target: generated netlists, by the pipeline. A circuit is a ladder of random elements between a source and ground,
 * so that most have a solution; cards, fields and numbers of it change. */
#include "generate.h"
#include "text.h"

#include <ctype.h>

enum { NODES = 5, CARDS = 10 };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static const char *const VALUES[] = {"1", "1k", "{r0}", "{2*r0 + 10}", "{f1(r0)}", "4.7k", "100", "{r0/3}"};
static const char *const SMALL[] = {"1n", "10n", "{c0}", "{2*c0}", "100p", "1u"};
static const char *const WAVES[] = {
    "5",         "sin(0 5 100k)",        "pulse(0 5 1u 0.1u 0.1u 3u 8u)", "pwl(0 0 2u 1 5u 1 6u 0)",
    "dc 1 ac 1", "exp(0 1 1u 2u 5u 1u)", "sffm(0 1 200k 2 20k)"};
/* `%d` stand for nodes. */
static const char *const SOURCES[] = {"v=tanh(v(n%d, n%d))", "i=1m*v(n%d)*exp(-v(n%d)^2)",
                                      "v=f1(v(n%d))/(1 + v(n%d)^2)", "i=v(n%d) > v(n%d) ? 1m : 2m",
                                      "v=max(v(n%d), v(n%d))/2"};

static uint32_t node(Random *random) { return random_below(random, NODES); }

/* An element between two nodes, or from one to ground. */
static void put_element(Random *random, Text *text, uint32_t k) {
  char to[8] = "0";
  uint32_t from = node(random);
  if (random_below(random, 3)) snprintf(to, sizeof to, "n%u", node(random));
  switch (random_below(random, 14)) {
  case 0:
  case 1: put(text, "r%u n%u %s %s\n", k, from, to, PICK(random, VALUES)); break;
  case 2: put(text, "c%u n%u %s %s ic=0\n", k, from, to, PICK(random, SMALL)); break;
  case 3: put(text, "l%u n%u %s 1m\nrl%u n%u 0 1k\n", k, from, to, k, from); break;
  case 4: put(text, "d%u n%u %s dd\n", k, from, to); break;
  case 5: put(text, "q%u n%u n%u %s qn\n", k, from, node(random), to); break;
  case 6: put(text, "m%u n%u n%u %s 0 mn w=10u l=1u\n", k, from, node(random), to); break;
  case 7: put(text, "e%u n%u 0 n%u n%u 0.5\n", k, NODES + k, from, node(random)); break;
  case 8: put(text, "g%u n%u %s n%u n%u 1m\n", k, from, to, node(random), node(random)); break;
  case 9: put(text, "f%u n%u %s v1 0.5\n", k, from, to); break;
  case 10: put(text, "x%u n%u %s cell r=%s\n", k, from, to, PICK(random, VALUES)); break;
  case 11: put(text, "s%u n%u %s n%u 0 sw\n", k, from, to, node(random)); break;
  case 12: put(text, "i%u n%u %s %s\n", k, from, to, "1m"); break;
  default: {
    uint32_t first = node(random), second = node(random);
    const char *source = PICK(random, SOURCES);
    put(text, "b%u n%u %s ", k, source[0] == 'v' ? NODES + k : from, source[0] == 'v' ? "0" : to);
    put(text, source, first, second);
    put(text, "\n");
  }
  }
}

static size_t generate_netlist(Random *random, char *text, size_t limit) {
  static Text whole;
  memset(&whole, 0, sizeof whole);
  put(&whole, "* %u\n.param r0=1k c0=1n\n.func f1(x) {x/2 + 1}\n", (unsigned)random_below(random, 1u << 30));
  put(&whole, ".model dd d is=1e-14 cjo=1p\n.model qn npn bf=100 cje=1p\n.model mn nmos vto=1 kp=100u\n"
              ".model sw sw vt=0.5 ron=10\n");
  put(&whole, ".subckt cell a b params: r=1k c={c0}\nr1 a m {r}\nr2 m b 10\nc1 m 0 {c}\n.ends\n");
  put(&whole, "v1 n0 0 %s\n", PICK(random, WAVES));
  for (uint32_t k = 0; k + 1 < NODES; k++) put(&whole, "rr%u n%u n%u 1k\ncr%u n%u 0 100p\n", k, k, k + 1, k, k + 1);
  for (uint32_t k = 0, count = 1 + random_below(random, CARDS); k < count; k++) put_element(random, &whole, k);
  if (!random_below(random, 4)) put(&whole, ".ic v(n%u)=0.5\n", 1 + random_below(random, NODES - 1));
  put(&whole, ".tran 1u 20u%s\n.end\n", random_below(random, 4) ? "" : " uic");
  return put_out(&whole, text, limit);
}

static Span random_line(Random *random, const char *text, size_t size) {
  size_t begin = random_below(random, (uint32_t)size), end;
  while (begin > 0 && text[begin - 1] != '\n') begin--;
  for (end = begin; end < size && text[end] != '\n';) end++;
  return (Span){begin, end < size ? end + 1 : size};
}

/* The field at or after a random place. */
static Span random_field(Random *random, const char *text, size_t size) {
  size_t begin = random_below(random, (uint32_t)size), end;
  while (begin > 0 && !isspace((unsigned char)text[begin - 1])) begin--;
  for (end = begin; end < size && !isspace((unsigned char)text[end]) && text[end] != '=';) end++;
  return (Span){begin, end};
}

static size_t mutate_netlist(Random *random, char *text, size_t size, size_t limit) {
  static const char *const WORDS[] = {"0",
                                      "-1",
                                      "1e300",
                                      "1e-300",
                                      "1t",
                                      "nan",
                                      "n1",
                                      "n99",
                                      "{r0}",
                                      "{",
                                      "+",
                                      ".ends",
                                      ".subckt a b c",
                                      ".param",
                                      "={r0}",
                                      "params:",
                                      ".include \"a\"",
                                      "poly(2) 1 0 2 0 1 1",
                                      "ic=1",
                                      "m=3",
                                      "tc=1,2",
                                      ".model x d level=3",
                                      ".op",
                                      ".dc v1 0 1 0.1",
                                      ".ac dec 5 1 1meg"};
  static char copy[SECTION];
  if (!size) return generate_netlist(random, text, limit);
  bool is_line = random_below(random, 3) == 0;
  Span span = (is_line ? random_line : random_field)(random, text, size);
  Span other = (is_line ? random_line : random_field)(random, text, size);
  size_t length = span.end - span.begin < sizeof copy ? span.end - span.begin : sizeof copy;
  memcpy(copy, text + span.begin, length);
  const char *word = PICK(random, WORDS);
  switch (random_below(random, 4)) {
  case 0: return replace(text, size, limit, span, "", 0);
  case 1: return replace(text, size, limit, (Span){other.end, other.end}, copy, length);
  case 2: return replace(text, size, limit, other, copy, length);
  default: return replace(text, size, limit, span, word, strlen(word));
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  return mutate_or_generate(generate_netlist, mutate_netlist, seed, (char *)data, size, max_size);
}
