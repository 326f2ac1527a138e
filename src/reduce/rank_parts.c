/* rank_parts: see rank_parts.h. */
#include "reduce/rank_parts.h"

static uint32_t find_root(uint32_t *parent, uint32_t member) {
  while (parent[member] != member) member = parent[member] = parent[parent[member]];
  return member;
}

/* Rows come after the columns. */
RankParts rank_parts_connected(uint32_t rows, uint32_t columns, const int32_t *column_start, const int32_t *row_index,
                               Arena *arena) {
  uint32_t members = rows + columns, count = 0;
  uint32_t *parent = arena_array(arena, members, sizeof *parent), *part = arena_array(arena, members, sizeof *part);
  for (uint32_t k = 0; k < members; k++) parent[k] = k;
  for (uint32_t q = 0; q < columns; q++)
    for (int32_t e = column_start[q]; e < column_start[q + 1]; e++) {
      uint32_t a = find_root(parent, q), b = find_root(parent, columns + (uint32_t)row_index[e]);
      if (a < b) parent[b] = a;
      else parent[a] = b;
    }
  for (uint32_t k = 0; k < members; k++) {
    uint32_t root = find_root(parent, k);
    part[k] = root == k ? count++ : part[root];
  }
  return rank_parts_list(part + columns, rows, part, columns, count, arena);
}

/* Lists the members of each part, with their places in it. */
static uint32_t *list_members(const uint32_t *of, uint32_t count, const uint32_t *start, uint32_t parts,
                              uint32_t *place, Arena *arena) {
  uint32_t *list = arena_array(arena, count, sizeof *list), *next = arena_array(arena, parts, sizeof *next);
  for (uint32_t k = 0; k < count; k++) {
    place[k] = next[of[k]]++;
    list[start[of[k]] + place[k]] = k;
  }
  return list;
}

static uint32_t *part_starts(const uint32_t *of, uint32_t count, uint32_t parts, Arena *arena) {
  uint32_t *start = arena_array(arena, (size_t)parts + 1, sizeof *start);
  for (uint32_t k = 0; k < count; k++) start[of[k] + 1]++;
  for (uint32_t p = 0; p < parts; p++) start[p + 1] += start[p];
  return start;
}

RankParts rank_parts_list(uint32_t *of_row, uint32_t rows, uint32_t *of_column, uint32_t columns, uint32_t count,
                          Arena *arena) {
  RankParts parts = {.count = count, .of_row = of_row, .of_column = of_column};
  parts.part = arena_array(arena, count, sizeof *parts.part);
  parts.row_place = arena_array(arena, rows, sizeof(uint32_t));
  parts.column_place = arena_array(arena, columns, sizeof(uint32_t));
  uint32_t *row_start = part_starts(of_row, rows, count, arena),
           *column_start = part_starts(of_column, columns, count, arena);
  uint32_t *row = list_members(of_row, rows, row_start, count, parts.row_place, arena),
           *column = list_members(of_column, columns, column_start, count, parts.column_place, arena);
  for (uint32_t p = 0; p < count; p++) {
    parts.part[p] = (RankPart){.rows = (int32_t)(row_start[p + 1] - row_start[p]),
                               .columns = (int32_t)(column_start[p + 1] - column_start[p]),
                               .row = row + row_start[p],
                               .column = column + column_start[p],
                               .first = parts.entries};
    parts.entries += (size_t)parts.part[p].rows * (size_t)parts.part[p].columns;
  }
  return parts;
}

const RankPart *rank_parts_largest(const RankParts *parts) {
  const RankPart *largest = NULL;
  for (uint32_t p = 0; p < parts->count; p++)
    if (!largest || parts->part[p].columns > largest->columns) largest = &parts->part[p];
  return largest;
}
