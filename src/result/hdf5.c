/* hdf5: see hdf5.h. Section numbers are those of the specification. All objects begin at multiples of 8. */
#include "result/hdf5.h"

#include "base/map.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

enum {
  SUPERBLOCK_SIZE = 96,
  SYMBOL_SIZE = 40,
  FEWEST_SYMBOLS = 64,    /* fewest symbols of a node */
  MOST_NODES = 60000,     /* nodes of symbols, below one node of the tree */
  LONGEST_TEXT = 60000,   /* longest text of an attribute: a message has 16 bits for its size */
  NAME_STEP = 8,          /* names of groups begin at multiples of it */
  NO_FREE_SPACE = 1,      /* mark of a heap of names without free space */
  NULL_PADDED_UTF8 = 0x11 /* kind of texts */
};

/* Messages of object headers, section IV.A.2. */
typedef enum Message {
  MESSAGE_SPACE = 0x1,
  MESSAGE_LINK_INFO = 0x2,
  MESSAGE_TYPE = 0x3,
  MESSAGE_FILL = 0x5,
  MESSAGE_LINK = 0x6,
  MESSAGE_LAYOUT = 0x8,
  MESSAGE_GROUP_INFO = 0xa,
  MESSAGE_ATTRIBUTE = 0xc,
  MESSAGE_SYMBOL_TABLE = 0x11,
} Message;

/* A group of the root. */
typedef struct Group {
  uint64_t header, name; /* address of the group's header; where its name begins in Hdf5.names */
} Group;

struct Hdf5 {
  Heap *heap;
  FileWriter *file;
  uint64_t size;    /* bytes written so far */
  TextVec messages; /* messages of the object header that is being made */
  uint32_t message_count, message_start;
  TextVec names; /* of groups */
  VEC(Group) groups;
};

static const uint64_t undefined_address = UINT64_MAX;

/* ---- bytes ---- */

static void append_number(const Hdf5 *hdf5, TextVec *bytes, uint64_t value, int size) {
  char digits[8];
  for (int k = 0; k < size; k++) digits[k] = (char)(value >> 8 * k & 0xff);
  text_append(hdf5->heap, bytes, digits, (size_t)size);
}

static void append_zeros(const Hdf5 *hdf5, TextVec *bytes, uint32_t size) {
  while (bytes->count < size) text_append(hdf5->heap, bytes, "", 1);
}

static void append_padding(const Hdf5 *hdf5, TextVec *bytes) { append_zeros(hdf5, bytes, (bytes->count + 7) / 8 * 8); }

/* Returns the address. */
static uint64_t write_bytes(Hdf5 *hdf5, const void *bytes, uint64_t size) {
  uint64_t address = hdf5->size;
  file_write(hdf5->file, bytes, size);
  hdf5->size += size;
  return address;
}

/* Writes a block and empties it. */
static uint64_t write_block(Hdf5 *hdf5, TextVec *bytes) {
  append_padding(hdf5, bytes);
  uint64_t address = write_bytes(hdf5, bytes->data, bytes->count);
  bytes->count = 0;
  return address;
}

/* ---- object headers, section IV.A.1.a ---- */

static void begin_message(Hdf5 *hdf5, Message type) {
  append_number(hdf5, &hdf5->messages, type, 8); /* type, size and flags */
  hdf5->message_start = hdf5->messages.count;
  hdf5->message_count++;
}

static void end_message(Hdf5 *hdf5) {
  append_padding(hdf5, &hdf5->messages);
  uint32_t size = hdf5->messages.count - hdf5->message_start;
  hdf5->messages.data[hdf5->message_start - 6] = (char)(size & 0xff);
  hdf5->messages.data[hdf5->message_start - 5] = (char)(size >> 8);
}

/* Writes the messages as an object; returns its address. */
static uint64_t write_header(Hdf5 *hdf5) {
  TextVec prefix = {0};
  append_number(hdf5, &prefix, 1, 2); /* version */
  append_number(hdf5, &prefix, hdf5->message_count, 2);
  append_number(hdf5, &prefix, 1, 4); /* links to it */
  append_number(hdf5, &prefix, hdf5->messages.count, 4);
  uint64_t address = write_block(hdf5, &prefix);
  write_block(hdf5, &hdf5->messages);
  hdf5->message_count = 0;
  vec_free(hdf5->heap, &prefix);
  return address;
}

/* ---- types and spaces, sections IV.A.2.b and d ---- */

static void append_double_type(Hdf5 *hdf5) {
  TextVec *bytes = &hdf5->messages;
  append_number(hdf5, bytes, 0x11, 1);                              /* version 1, floating-point */
  append_number(hdf5, bytes, 0x3f20 | number_is_big_endian(), 3);   /* sign in bit 63, normalized, order of bytes */
  append_number(hdf5, bytes, sizeof(double), 4);                    /* size */
  append_number(hdf5, bytes, UINT64_C(64) << 16, 4);                /* bits: first and count */
  append_number(hdf5, bytes, 52 | 11 << 8 | 0 << 16 | 52 << 24, 4); /* exponent: first bit and count; mantissa */
  append_number(hdf5, bytes, 1023, 4);                              /* bias */
}

static void append_text_type(Hdf5 *hdf5, uint32_t length) {
  append_number(hdf5, &hdf5->messages, 0x13, 1); /* version 1, text */
  append_number(hdf5, &hdf5->messages, NULL_PADDED_UTF8, 3);
  append_number(hdf5, &hdf5->messages, length, 4);
}

/* rank 0: a scalar */
static void append_space(Hdf5 *hdf5, int rank, const uint64_t *extent) {
  append_number(hdf5, &hdf5->messages, 1, 1); /* version */
  append_number(hdf5, &hdf5->messages, (uint64_t)rank, 7);
  for (int k = 0; k < rank; k++) append_number(hdf5, &hdf5->messages, extent[k], 8);
}

/* ---- attributes, section IV.A.2.m ---- */

static void append_attribute(Hdf5 *hdf5, const Hdf5Attribute *attribute) {
  enum { DOUBLE_TYPE_SIZE = 20, TEXT_TYPE_SIZE = 8, SCALAR_SIZE = 8, UTF8 = 1 };
  TextVec *bytes = &hdf5->messages;
  const char *text = attribute->text;
  uint32_t name = (uint32_t)strlen(attribute->name) + 1, length = text ? (uint32_t)strlen(text) : 0;
  if (length > LONGEST_TEXT) length = LONGEST_TEXT;
  begin_message(hdf5, MESSAGE_ATTRIBUTE);
  append_number(hdf5, bytes, 3, 2); /* version */
  append_number(hdf5, bytes, name, 2);
  append_number(hdf5, bytes, text ? TEXT_TYPE_SIZE : DOUBLE_TYPE_SIZE, 2);
  append_number(hdf5, bytes, SCALAR_SIZE, 2);
  append_number(hdf5, bytes, UTF8, 1);
  text_append(hdf5->heap, bytes, attribute->name, name);
  if (text) append_text_type(hdf5, length ? length : 1);
  else append_double_type(hdf5);
  append_space(hdf5, 0, NULL);
  if (!text) text_append(hdf5->heap, bytes, (const char *)&attribute->number, sizeof(double));
  else if (length) text_append(hdf5->heap, bytes, text, length);
  else text_append(hdf5->heap, bytes, "", 1);
  end_message(hdf5);
}

/* ---- data ---- */

/* The object of a dataset whose data begin at `address`; text 0: doubles. Returns the address of the header. */
static uint64_t write_dataset(Hdf5 *hdf5, uint64_t address, uint32_t text, int rank, const uint64_t *extent) {
  uint64_t size = text ? text : sizeof(double);
  for (int k = 0; k < rank; k++) size *= extent[k];
  begin_message(hdf5, MESSAGE_SPACE);
  append_space(hdf5, rank, extent);
  end_message(hdf5);
  begin_message(hdf5, MESSAGE_TYPE);
  if (text) append_text_type(hdf5, text);
  else append_double_type(hdf5);
  end_message(hdf5);
  begin_message(hdf5, MESSAGE_FILL);
  append_number(hdf5, &hdf5->messages, 0x020202, 4); /* version 2, nothing is filled */
  end_message(hdf5);
  begin_message(hdf5, MESSAGE_LAYOUT);
  append_number(hdf5, &hdf5->messages, 0x0103, 2); /* version 3, contiguous */
  append_number(hdf5, &hdf5->messages, size ? address : undefined_address, 8);
  append_number(hdf5, &hdf5->messages, size, 8);
  end_message(hdf5);
  return write_header(hdf5);
}

static bool varies(const Signal *signal) { return signal->column != SIGNAL_CONSTANT; }

static uint64_t write_names(Hdf5 *hdf5, const SignalTable *signals) {
  uint32_t longest = 1, count = 0;
  for (uint32_t s = 0; s < signals->listed; s++) {
    uint32_t length = (uint32_t)strlen(signals->list.data[s].name);
    if (length > longest) longest = length;
  }
  TextVec bytes = {0};
  for (uint32_t s = 0; s < signals->listed; s++) {
    const Signal *signal = &signals->list.data[s];
    if (!varies(signal)) continue;
    text_append(hdf5->heap, &bytes, signal->name, strlen(signal->name));
    append_zeros(hdf5, &bytes, ++count * longest);
  }
  uint64_t address = write_block(hdf5, &bytes);
  vec_free(hdf5->heap, &bytes);
  return write_dataset(hdf5, address, longest, 1, (uint64_t[]){count});
}

static uint64_t write_time(Hdf5 *hdf5, const Trajectory *trajectory) {
  uint64_t address = hdf5->size;
  for (size_t r = 0; r < trajectory->rows; r++) {
    double time = trajectory_time(trajectory, r);
    write_bytes(hdf5, &time, sizeof time);
  }
  return write_dataset(hdf5, address, 0, 1, (uint64_t[]){trajectory->rows});
}

/* The column of `values` for each signal that varies. Signals with the same values, or the same except for the sign, share a
 * column. */
typedef struct Columns {
  IndexVec signals; /* per column, the first of its signals */
  VEC(double) of;   /* per signal that varies: 1 + its column, negative if it is minus the column */
} Columns;

static uint64_t hash_sizes(const Trajectory *trajectory, uint32_t signal) {
  uint64_t hash = 0, bits;
  for (size_t r = 0; r < trajectory->rows; r++) {
    double size = fabs(trajectory_value(trajectory, r, signal));
    memcpy(&bits, &size, sizeof bits);
    hash = hash_mix(hash ^ bits);
  }
  return hash;
}

/* 1: both are equal; -1: one is minus the other; 0: neither. */
static int compare_signals(const Trajectory *trajectory, uint32_t one, uint32_t other) {
  bool are_same = true, are_opposite = true;
  for (size_t r = 0; r < trajectory->rows && (are_same || are_opposite); r++) {
    double a = trajectory_value(trajectory, r, one), b = trajectory_value(trajectory, r, other);
    bool are_none = isnan(a) && isnan(b);
    are_same = are_same && (a == b || are_none);
    are_opposite = are_opposite && (a == -b || are_none);
  }
  return are_same ? 1 : are_opposite ? -1 : 0;
}

static Columns find_columns(Hdf5 *hdf5, const Trajectory *trajectory) {
  Columns columns = {0};
  Map by_hash = map_make(hdf5->heap);
  for (uint32_t s = 0; s < trajectory->signals->listed; s++) {
    if (!varies(&trajectory->signals->list.data[s])) continue;
    uint64_t hash = hash_sizes(trajectory, s) >> 1;
    uint32_t column = map_get(&by_hash, hash);
    int sign = column == MAP_NONE ? 0 : compare_signals(trajectory, columns.signals.data[column], s);
    if (!sign) {
      column = columns.signals.count;
      map_put(&by_hash, hash, column);
      vec_push(hdf5->heap, &columns.signals, s);
      sign = 1;
    }
    vec_push(hdf5->heap, &columns.of, sign * (column + 1.0));
  }
  map_free(&by_hash);
  return columns;
}

static uint64_t write_columns(Hdf5 *hdf5, const Columns *columns) {
  uint64_t address = hdf5->size;
  write_bytes(hdf5, columns->of.data, columns->of.count * sizeof *columns->of.data);
  return write_dataset(hdf5, address, 0, 1, (uint64_t[]){columns->of.count});
}

static uint64_t write_values(Hdf5 *hdf5, const Trajectory *trajectory, const Columns *columns) {
  uint64_t address = hdf5->size;
  for (size_t r = 0; r < trajectory->rows; r++)
    for (uint32_t k = 0; k < columns->signals.count; k++) {
      double value = trajectory_value(trajectory, r, columns->signals.data[k]);
      write_bytes(hdf5, &value, sizeof value);
    }
  return write_dataset(hdf5, address, 0, 2, (uint64_t[]){trajectory->rows, columns->signals.count});
}

/* ---- groups ---- */

/* Section IV.A.2.g. */
static void append_link(Hdf5 *hdf5, const char *name, uint64_t address) {
  uint32_t length = (uint32_t)strlen(name);
  begin_message(hdf5, MESSAGE_LINK);
  append_number(hdf5, &hdf5->messages, 1, 2); /* version, a hard link */
  append_number(hdf5, &hdf5->messages, length, 1);
  text_append(hdf5->heap, &hdf5->messages, name, length);
  append_number(hdf5, &hdf5->messages, address, 8);
  end_message(hdf5);
}

/* Links are stored only as messages of the group: sections IV.A.2.c and k. */
static void append_group(Hdf5 *hdf5) {
  begin_message(hdf5, MESSAGE_LINK_INFO);
  append_number(hdf5, &hdf5->messages, 0, 2);
  append_number(hdf5, &hdf5->messages, undefined_address, 8);
  append_number(hdf5, &hdf5->messages, undefined_address, 8);
  end_message(hdf5);
  begin_message(hdf5, MESSAGE_GROUP_INFO);
  append_number(hdf5, &hdf5->messages, 0, 2);
  end_message(hdf5);
}

static bool is_among(const char *name, const Hdf5Attribute *attributes, uint32_t count) {
  for (uint32_t k = 0; k < count; k++)
    if (strcmp(attributes[k].name, name) == 0) return true;
  return false;
}

/* Writes the signals that do not vary, except those with further attributes. */
static void append_constants(Hdf5 *hdf5, const SignalTable *signals, const Hdf5Attribute *known, uint32_t count) {
  for (uint32_t s = 0; s < signals->listed; s++) {
    const Signal *signal = &signals->list.data[s];
    if (varies(signal) || is_among(signal->name, known, count)) continue;
    append_attribute(hdf5, &(Hdf5Attribute){.name = signal->name, .number = signal->value});
  }
}

void hdf5_add(Hdf5 *hdf5, const char *group, const Trajectory *trajectory, const Hdf5Attribute *attributes,
              uint32_t count) {
  uint64_t names = trajectory ? write_names(hdf5, trajectory->signals) : 0;
  uint64_t time = trajectory ? write_time(hdf5, trajectory) : 0;
  Columns shared = trajectory ? find_columns(hdf5, trajectory) : (Columns){0};
  uint64_t columns = trajectory ? write_columns(hdf5, &shared) : 0;
  uint64_t values = trajectory ? write_values(hdf5, trajectory, &shared) : 0;
  vec_free(hdf5->heap, &shared.signals, &shared.of);
  append_group(hdf5);
  for (uint32_t k = 0; k < count; k++) append_attribute(hdf5, &attributes[k]);
  if (trajectory) {
    append_constants(hdf5, trajectory->signals, attributes, count);
    append_link(hdf5, "columns", columns);
    append_link(hdf5, "names", names);
    append_link(hdf5, "time", time);
    append_link(hdf5, "values", values);
  }
  Group made = {write_header(hdf5), hdf5->names.count};
  vec_push(hdf5->heap, &hdf5->groups, made);
  text_append(hdf5->heap, &hdf5->names, group, (uint32_t)strlen(group) + 1);
  append_padding(hdf5, &hdf5->names);
}

/* ---- the root, sections III.A, III.B and III.D ---- */

/* At most as many as one node of the tree can hold. */
static uint32_t symbols_per_node(const Hdf5 *hdf5) {
  uint32_t count = FEWEST_SYMBOLS;
  while (hdf5->groups.count / count >= MOST_NODES) count *= 2;
  return count;
}

static uint32_t count_nodes(const Hdf5 *hdf5) {
  uint32_t each = symbols_per_node(hdf5);
  return hdf5->groups.count / each + (hdf5->groups.count % each > 0);
}

static uint64_t write_name_heap(Hdf5 *hdf5) {
  TextVec bytes = {0};
  text_append(hdf5->heap, &bytes, "HEAP", 4);
  append_number(hdf5, &bytes, 0, 4); /* version */
  append_number(hdf5, &bytes, hdf5->names.count, 8);
  append_number(hdf5, &bytes, NO_FREE_SPACE, 8);
  append_number(hdf5, &bytes, hdf5->size + bytes.count + 8, 8); /* the names follow */
  uint64_t address = write_block(hdf5, &bytes);
  write_block(hdf5, &hdf5->names);
  vec_free(hdf5->heap, &bytes);
  return address;
}

static uint64_t write_symbols(Hdf5 *hdf5, uint32_t first, uint32_t each) {
  TextVec bytes = {0};
  uint32_t last = hdf5->groups.count - first < each ? hdf5->groups.count : first + each;
  text_append(hdf5->heap, &bytes, "SNOD", 4);
  append_number(hdf5, &bytes, 1, 2); /* version */
  append_number(hdf5, &bytes, last - first, 2);
  for (uint32_t g = first; g < last; g++) {
    append_number(hdf5, &bytes, hdf5->groups.data[g].name, 8);
    append_number(hdf5, &bytes, hdf5->groups.data[g].header, 8);
    append_zeros(hdf5, &bytes, bytes.count + SYMBOL_SIZE - 16); /* nothing is cached */
  }
  append_zeros(hdf5, &bytes, 8 + each * SYMBOL_SIZE);
  uint64_t address = write_block(hdf5, &bytes);
  vec_free(hdf5->heap, &bytes);
  return address;
}

/* One node of the tree, with the greatest name below each child after it. */
static uint64_t write_tree(Hdf5 *hdf5, uint32_t most_children) {
  TextVec bytes = {0};
  uint32_t each = symbols_per_node(hdf5), nodes = count_nodes(hdf5);
  text_append(hdf5->heap, &bytes, "TREE", 4);
  append_number(hdf5, &bytes, 0, 2); /* type of a group, lowest level */
  append_number(hdf5, &bytes, nodes, 2);
  append_number(hdf5, &bytes, undefined_address, 8);
  append_number(hdf5, &bytes, undefined_address, 8);
  append_number(hdf5, &bytes, 0, 8); /* the offset of the empty name, which sorts before all others */
  for (uint32_t n = 0; n < nodes; n++) {
    uint32_t last = n + 1 < nodes ? (n + 1) * each : hdf5->groups.count;
    append_number(hdf5, &bytes, write_symbols(hdf5, n * each, each), 8);
    append_number(hdf5, &bytes, hdf5->groups.data[last - 1].name, 8);
  }
  append_zeros(hdf5, &bytes, 32 + most_children * 16);
  uint64_t address = write_block(hdf5, &bytes);
  vec_free(hdf5->heap, &bytes);
  return address;
}

static void append_superblock(const Hdf5 *hdf5, TextVec *bytes, uint32_t most_children, uint64_t root, uint64_t tree,
                              uint64_t names) {
  text_append(hdf5->heap, bytes, "\x89HDF\r\n\x1a\n", 8);
  append_number(hdf5, bytes, 0, 5);      /* versions */
  append_number(hdf5, bytes, 0x0808, 3); /* sizes of addresses and lengths */
  append_number(hdf5, bytes, symbols_per_node(hdf5) / 2, 2);
  append_number(hdf5, bytes, most_children / 2, 2);
  append_number(hdf5, bytes, 0, 4);
  append_number(hdf5, bytes, 0, 8); /* base of addresses */
  append_number(hdf5, bytes, undefined_address, 8);
  append_number(hdf5, bytes, hdf5->size, 8);
  append_number(hdf5, bytes, undefined_address, 8);
  append_number(hdf5, bytes, 0, 8); /* name of the root */
  append_number(hdf5, bytes, root, 8);
  append_number(hdf5, bytes, 1, 8); /* tree and names are cached */
  append_number(hdf5, bytes, tree, 8);
  append_number(hdf5, bytes, names, 8);
}

Hdf5 *hdf5_begin(Heap *heap, FileWriter *file) {
  Hdf5 *hdf5 = heap_alloc(heap, sizeof *hdf5);
  static const char zeros[SUPERBLOCK_SIZE];
  *hdf5 = (Hdf5){.heap = heap, .file = file};
  write_bytes(hdf5, zeros, sizeof zeros); /* written again at the end */
  append_zeros(hdf5, &hdf5->names, NAME_STEP);
  return hdf5;
}

void hdf5_end(Hdf5 *hdf5) {
  enum { FEWEST_CHILDREN = 32 };
  TextVec superblock = {0};
  uint32_t nodes = count_nodes(hdf5), most_children = nodes < FEWEST_CHILDREN ? FEWEST_CHILDREN : (nodes + 1) / 2 * 2;
  uint64_t tree = write_tree(hdf5, most_children), names = write_name_heap(hdf5);
  begin_message(hdf5, MESSAGE_SYMBOL_TABLE);
  append_number(hdf5, &hdf5->messages, tree, 8);
  append_number(hdf5, &hdf5->messages, names, 8);
  end_message(hdf5);
  uint64_t root = write_header(hdf5);
  append_superblock(hdf5, &superblock, most_children, root, tree, names);
  file_write_over(hdf5->file, superblock.data, superblock.count);
  vec_free(hdf5->heap, &superblock);
  vec_free(hdf5->heap, &hdf5->messages);
  vec_free(hdf5->heap, &hdf5->names);
  vec_free(hdf5->heap, &hdf5->groups);
}
