/* incidence: see incidence.h. A picture is one or two matrices of squares; each is drawn either entry by entry or as a map of
 * MAP_CELLS by MAP_CELLS cells. Neighbours in a row that are equal are drawn as one. */
#include "result/incidence.h"

#include "base/number.h"
#include "base/utf8.h"
#include "result/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  MAP_CELLS = 240,
  LEVELS = 3,    /* densities of a map */
  NAMED = 40,    /* equations with names at the side */
  NUMBERED = 30, /* equations with orders written into the squares */
  ORDERS = 5,    /* number of colours; the last one also stands for higher orders */
  FRAMED = 2000, /* the most blocks that get their own frame in a map */
  NAME_LENGTH = 22,
};

static const double picture_side = 540, gap = 40, character_width = 6.9, least_entry = 1.7;

typedef struct MatrixView {
  const int32_t *row_place, *column_place; /* position of each equation and variable; NULL: as written */
  bool blocks;
  double x, y, cell; /* upper left corner and size of a square */
} MatrixView;

typedef struct Picture {
  Heap *heap;
  TextVec *text;
  const IncidencePicture *input;
  int32_t rows, columns;
  bool detailed, named, numbered;
  double side_left, side_top; /* room for names */
} Picture;

static const char *order_colour(int32_t order) {
  static const char *const colour[ORDERS] = {"#8a9ba8", "#0072b2", "#d55e00", "#009e73", "#cc79a7"};
  return colour[order < 0 ? 0 : order < ORDERS ? order : ORDERS - 1];
}

static void put(Picture *picture, const char *bytes) {
  text_append(picture->heap, picture->text, bytes, strlen(bytes));
}

static void put_box(Picture *picture, double x, double y, double width, double height) {
  svg_print(picture->heap, picture->text, "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\"", x, y, width, height);
}

static void put_words(Picture *picture, double x, double y, const char *attributes, const char *words, uint32_t most) {
  svg_words(picture->heap, picture->text, x, y, attributes, words, most);
}

static int32_t row_place(const MatrixView *view, int32_t row) { return view->row_place ? view->row_place[row] : row; }
static int32_t column_place(const MatrixView *view, int32_t column) {
  return view->column_place ? view->column_place[column] : column;
}

/* The name of an equation or variable, or its number. */
static const char *name_of(const char *const *names, int32_t index, char number[16]) {
  if (names && names[index]) return names[index];
  snprintf(number, 16, "%d", index + 1);
  return number;
}

/* ---- every entry ---- */

/* In block form, an entry below the highest derivative does not count for the blocks. */
static bool is_pale(const Picture *picture, const MatrixView *view, int32_t row, int32_t entry) {
  const IncidencePicture *input = picture->input;
  if (!view->blocks || !input->c || !input->d) return false;
  return input->order[entry] + input->c[row] < input->d[input->column[entry]];
}

/* <title>variable, derivative order, equation</title> */
static void put_hover(Picture *picture, int32_t row, int32_t entry) {
  char number[16];
  const IncidencePicture *input = picture->input;
  int32_t order = input->order[entry];
  put(picture, "<title>");
  svg_escape(picture->heap, picture->text, name_of(input->variable_names, input->column[entry], number), 200);
  if (order > 0 && order <= 3) text_append(picture->heap, picture->text, "'''", (size_t)order);
  if (order > 3) text_printf(picture->heap, picture->text, ", derivative %d", order);
  put(picture, " in ");
  if (!input->equation_names) put(picture, "equation ");
  svg_escape(picture->heap, picture->text, name_of(input->equation_names, row, number), 200);
  put(picture, "</title>");
}

static void put_entry(Picture *picture, const MatrixView *view, int32_t row, int32_t entry) {
  int32_t order = picture->input->order[entry], column = column_place(view, picture->input->column[entry]);
  double inset = view->cell > 4 ? view->cell * 0.06 : 0, side = fmax(view->cell - 2 * inset, least_entry);
  double x = view->x + column * view->cell + inset, y = view->y + row_place(view, row) * view->cell + inset;
  bool pale = is_pale(picture, view, row, entry);
  put_box(picture, x, y, side, side);
  text_printf(picture->heap, picture->text, " class=\"o%d%s\">", order < ORDERS ? order : ORDERS - 1, pale ? " p" : "");
  put_hover(picture, row, entry);
  put(picture, "</rect>\n");
  if (!picture->numbered) return;
  char words[16];
  snprintf(words, sizeof words, "%d", order);
  put_words(picture, x + side / 2, y + side * 0.5 + 4, pale ? "class=\"n q\"" : "class=\"n\"", words, 8);
}

static void draw_entries(Picture *picture, const MatrixView *view) {
  for (int32_t row = 0; row < picture->rows; row++)
    for (int32_t e = picture->input->row_start[row]; e < picture->input->row_start[row + 1]; e++)
      put_entry(picture, view, row, e);
}

/* Names, and offsets c and d, along the sides. */
static void draw_names(Picture *picture, const MatrixView *view) {
  char number[16];
  double font = fmin(11, view->cell * 0.85);
  text_printf(picture->heap, picture->text, "<g font-size=\"%d\" fill=\"#444\">\n", (int)lround(font));
  for (int32_t row = 0; row < picture->rows; row++) {
    double y = view->y + (row_place(view, row) + 0.5) * view->cell + 0.35 * font;
    put_words(picture, view->x - 5, y, "text-anchor=\"end\"", name_of(picture->input->equation_names, row, number),
              NAME_LENGTH);
    if (!picture->input->c) continue;
    snprintf(number, sizeof number, "%d", picture->input->c[row]);
    put_words(picture, view->x + picture->columns * view->cell + 6, y, "fill=\"#999\"", number, 8);
  }
  for (int32_t column = 0; column < picture->columns; column++) {
    double x = view->x + (column_place(view, column) + 0.5) * view->cell;
    char attributes[96];
    snprintf(attributes, sizeof attributes, "transform=\"rotate(-90 %ld %ld)\"", lround(x + 0.35 * font),
             lround(view->y - 5));
    put_words(picture, round(x + 0.35 * font), round(view->y - 5), attributes,
              name_of(picture->input->variable_names, column, number), NAME_LENGTH);
    if (!picture->input->d) continue;
    snprintf(number, sizeof number, "%d", picture->input->d[column]);
    put_words(picture, x, view->y + picture->rows * view->cell + 13, "text-anchor=\"middle\" fill=\"#999\"", number, 8);
  }
  if (picture->input->c)
    put_words(picture, view->x + picture->columns * view->cell + 6, view->y - 5, "fill=\"#999\"", "c", 1);
  if (picture->input->d)
    put_words(picture, view->x - 5, view->y + picture->rows * view->cell + 13, "text-anchor=\"end\" fill=\"#999\"", "d",
              1);
  put(picture, "</g>\n");
}

/* ---- density map ---- */

typedef struct MapCell {
  uint32_t count;
  int32_t order; /* highest */
} MapCell;

static int32_t map_index(int32_t place, int32_t total) { return (int32_t)((int64_t)place * MAP_CELLS / total); }

/* The opacity of a cell: faint, half or full. `capacity` is the content of a well-filled cell of a sparse matrix. */
static int32_t map_level(const MapCell *cell, double capacity) {
  double share = (double)cell->count / capacity;
  return share > 0.25 ? 2 : share > 0.02 ? 1 : 0;
}

/* Colour and density in one number; -1 for an empty cell. */
static int32_t map_class(const MapCell *cell, double capacity) {
  if (cell->count == 0) return -1;
  int32_t order = cell->order < ORDERS ? cell->order : ORDERS - 1;
  return order * LEVELS + map_level(cell, capacity);
}

/* Adds the runs of one row of cells to the path of their class, in units of cells. */
static void trace_map_row(Heap *heap, const MapCell *cells, int32_t y, double capacity, TextVec *paths) {
  for (int32_t x = 0, end; x < MAP_CELLS; x = end) {
    int32_t class = map_class(&cells[x], capacity);
    for (end = x + 1; end < MAP_CELLS && map_class(&cells[end], capacity) == class;) end++;
    if (class >= 0) text_printf(heap, &paths[class], "M%d %dh%d", x, y, end - x);
  }
}

static void draw_map_paths(Picture *picture, const MatrixView *view, TextVec *paths) {
  double width = view->cell * picture->columns / MAP_CELLS, height = view->cell * picture->rows / MAP_CELLS;
  svg_print(picture->heap, picture->text,
            "<g fill=\"none\" transform=\"translate(%f %f) scale(%d %d) scale(.0001)\">\n", view->x,
            view->y + height / 2, (int)lround(1e4 * width), (int)lround(1e4 * height));
  for (int32_t i = 0; i < ORDERS * LEVELS; i++) {
    if (paths[i].count == 0) continue;
    text_printf(picture->heap, picture->text, "<path class=\"l%d\" stroke=\"%s\" d=\"", i % LEVELS,
                order_colour(i / LEVELS));
    text_append(picture->heap, picture->text, paths[i].data, paths[i].count);
    put(picture, "\"/>\n");
    vec_free(picture->heap, &paths[i]);
  }
  put(picture, "</g>\n");
}

static void draw_map(Picture *picture, const MatrixView *view) {
  MapCell *cells = heap_array(picture->heap, (size_t)MAP_CELLS * MAP_CELLS, sizeof *cells);
  for (int32_t row = 0; row < picture->rows; row++) {
    size_t y = (size_t)map_index(row_place(view, row), picture->rows);
    for (int32_t e = picture->input->row_start[row]; e < picture->input->row_start[row + 1]; e++) {
      size_t x = (size_t)map_index(column_place(view, picture->input->column[e]), picture->columns);
      MapCell *cell = &cells[y * MAP_CELLS + x];
      cell->count++;
      if (picture->input->order[e] > cell->order) cell->order = picture->input->order[e];
    }
  }
  double capacity = fmax(1, (double)picture->rows / MAP_CELLS * fmax(1, (double)picture->columns / MAP_CELLS) / 4);
  TextVec paths[ORDERS * LEVELS] = {0};
  for (int32_t y = 0; y < MAP_CELLS; y++)
    trace_map_row(picture->heap, cells + (size_t)y * MAP_CELLS, y, capacity, paths);
  draw_map_paths(picture, view, paths);
  heap_free(picture->heap, cells);
}

/* ---- blocks ---- */

static void draw_block(Picture *picture, const MatrixView *view, int32_t block) {
  const int32_t *start = picture->input->block_start;
  int32_t size = start[block + 1] - start[block];
  double at = start[block] * view->cell, side = size * view->cell;
  put_box(picture, view->x + at, view->y + at, side, side);
  put(picture, size == 1 ? " class=\"b s\"" : " class=\"b\"");
  text_printf(picture->heap, picture->text, "><title>block %d: %d equation%s</title></rect>\n", block + 1, size,
              size == 1 ? "" : "s");
}

/* In a map, single equations are the diagonal, and only visible blocks get a frame. */
static void draw_blocks(Picture *picture, const MatrixView *view) {
  const int32_t *start = picture->input->block_start;
  int32_t framed = 0;
  put(picture, "<g fill=\"#f0c000\" fill-opacity=\".13\" stroke=\"#222\">\n");
  for (int32_t block = 0; block < picture->input->n_blocks && framed < FRAMED; block++) {
    double side = (start[block + 1] - start[block]) * view->cell;
    if (!picture->detailed && side < 2.5) continue;
    draw_block(picture, view, block);
    framed++;
  }
  put(picture, "</g>\n");
}

/* ---- the whole ---- */

static void draw_view(Picture *picture, const MatrixView *view, const char *heading) {
  double width = picture->columns * view->cell, height = picture->rows * view->cell;
  put_words(picture, view->x, view->y - picture->side_top - 10, "font-size=\"13\" fill=\"#111\"", heading, 80);
  put_box(picture, view->x, view->y, width, height);
  put(picture, " fill=\"#fafafa\" stroke=\"#999\"/>\n");
  if (view->blocks) draw_blocks(picture, view);
  if (picture->detailed) draw_entries(picture, view);
  else draw_map(picture, view);
  if (picture->named) draw_names(picture, view);
}

static int32_t *places(Heap *heap, const int32_t *at, int32_t count) {
  int32_t *place = heap_array(heap, (size_t)count, sizeof *place);
  for (int32_t i = 0; i < count; i++) place[at[i]] = i;
  return place;
}

static double longest_name(const char *const *names, int32_t count) {
  size_t longest = 3;
  for (int32_t i = 0; i < count && names; i++) {
    size_t length = names[i] ? utf8_count(names[i]) : 0;
    if (length > longest) longest = length < NAME_LENGTH ? length : NAME_LENGTH;
  }
  return character_width * (double)longest + 8;
}

static void draw_styles(Picture *picture) {
  put(picture, "<style>");
  for (int32_t i = 0; i < ORDERS; i++) text_printf(picture->heap, picture->text, ".o%d{fill:%s}", i, order_colour(i));
  put(picture, ".p{opacity:.3}.l0{opacity:.35}.l1{opacity:.65}.b{stroke-width:1.2}.s{stroke-width:.6;stroke:#888}"
               ".n{fill:#fff;font-size:11px;text-anchor:middle;pointer-events:none}.q{fill:#555}"
               "rect:hover{stroke:#000}</style>\n");
}

static int32_t highest_order(const IncidencePicture *input) {
  int32_t highest = 0;
  for (int32_t e = 0; input->n_equations && e < input->row_start[input->n_equations]; e++)
    if (input->order[e] > highest) highest = input->order[e];
  return highest;
}

static void draw_legend(Picture *picture, double x, double y) {
  static const char *const words[ORDERS] = {"variable", "first derivative", "second derivative", "third derivative",
                                            "higher"};
  int32_t highest = highest_order(picture->input);
  for (int32_t i = 0; i < ORDERS && i <= highest; i++) {
    put_box(picture, x, y - 10, 11, 11);
    text_printf(picture->heap, picture->text, " class=\"o%d\"/>\n", i);
    put_words(picture, x + 16, y, "", words[i], 40);
    x += 34 + 6.6 * (double)strlen(words[i]);
  }
  if (picture->detailed && picture->input->n_blocks && picture->input->c && picture->input->d)
    put_words(picture, x + 8, y, "fill=\"#777\"", "pale: not the highest derivative", 60);
}

/* The size of a square: the equations together fill one side of the picture, unless a square would become larger than the limit. */
static double cell_size(int32_t rows, int32_t columns) {
  int32_t most = rows > columns ? rows : columns;
  return most ? fmin(26, picture_side / most) : 26;
}

void incidence_svg(Heap *heap, const IncidencePicture *input, TextVec *text) {
  Picture picture = {
      .heap = heap, .text = text, .input = input, .rows = input->n_equations, .columns = input->n_variables};
  int32_t most = picture.rows > picture.columns ? picture.rows : picture.columns;
  int32_t entries = picture.rows ? input->row_start[picture.rows] : 0;
  picture.detailed = most <= INCIDENCE_DETAIL && entries <= INCIDENCE_ENTRIES;
  picture.named = picture.detailed && most <= NAMED;
  picture.numbered = picture.detailed && most <= NUMBERED;
  if (picture.named) {
    picture.side_left = longest_name(input->equation_names, picture.rows);
    picture.side_top = longest_name(input->variable_names, picture.columns);
  }
  double cell = cell_size(picture.rows, picture.columns), top = (input->title ? 56 : 26) + picture.side_top + 6;
  MatrixView written = {.x = 16 + picture.side_left, .y = top, .cell = cell}, blocks = written;
  double step = fmax(picture.columns * cell, 150) + picture.side_left + gap;
  blocks.x += step;
  blocks.blocks = true;
  double width = fmax(step * (input->n_blocks ? 2 : 1) + 16, 620), height = top + fmax(picture.rows, 1) * cell + 62;
  svg_begin(heap, text, width, height, input->title);
  draw_styles(&picture);
  if (input->title) put_words(&picture, 16, 24, "font-size=\"15\" fill=\"#111\"", input->title, 90);
  char heading[80];
  snprintf(heading, sizeof heading, "as written: %d equation%s, %d variable%s", picture.rows,
           plural((uint64_t)picture.rows), picture.columns, plural((uint64_t)picture.columns));
  draw_view(&picture, &written, heading);
  if (input->n_blocks) {
    int32_t *row_places = places(heap, input->row_at, picture.rows),
            *column_places = places(heap, input->column_at, picture.columns);
    blocks.row_place = row_places;
    blocks.column_place = column_places;
    snprintf(heading, sizeof heading, "block triangular: %d block%s", input->n_blocks, input->n_blocks == 1 ? "" : "s");
    draw_view(&picture, &blocks, heading);
    heap_free_all(heap, row_places, column_places);
  }
  draw_legend(&picture, 16, height - 14);
  svg_end(heap, text);
}
