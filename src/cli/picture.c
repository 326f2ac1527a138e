/* picture: the functions of librsvg and cairo are looked up by name; their types are opaque here. */
#include "cli/picture.h"
#include "cli/suggest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT_RGB24 = 1 }; /* of cairo_format_t */

/* The picture has SCALE times as many pixels as the SVG has units. */
static const double SCALE = 2;

typedef struct Rectangle {
  double x, y, width, height;
} Rectangle;

typedef int WriteBytes(void *closure, const unsigned char *bytes, unsigned length);

/* The functions used: library, result, name, arguments. */
#define FUNCTIONS(F)                                                                            \
  F(rsvg, void *, rsvg_handle_new_from_data, (const unsigned char *, size_t, void **))          \
  F(rsvg, int, rsvg_handle_render_document, (void *, void *, const Rectangle *, void **))       \
  F(object, void, g_object_unref, (void *))                                                     \
  F(cairo, void *, cairo_image_surface_create, (int, int, int))                                 \
  F(cairo, void *, cairo_pdf_surface_create_for_stream, (WriteBytes *, void *, double, double)) \
  F(cairo, int, cairo_surface_write_to_png_stream, (void *, WriteBytes *, void *))              \
  F(cairo, void *, cairo_create, (void *))                                                      \
  F(cairo, void, cairo_set_source_rgb, (void *, double, double, double))                        \
  F(cairo, void, cairo_paint, (void *))                                                         \
  F(cairo, void, cairo_destroy, (void *))                                                       \
  F(cairo, void, cairo_surface_finish, (void *))                                                \
  F(cairo, int, cairo_surface_status, (void *))                                                 \
  F(cairo, void, cairo_surface_destroy, (void *))

typedef struct Libraries {
  void *rsvg, *object, *cairo;
#define MEMBER(library, result, name, arguments) result(*name) arguments;
  FUNCTIONS(MEMBER)
} Libraries;

static bool libraries_open(Libraries *libraries) {
  *libraries = (Libraries){.rsvg = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL),
                           .object = dlopen("libgobject-2.0.so.0", RTLD_NOW | RTLD_LOCAL),
                           .cairo = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL)};
  if (!libraries->rsvg || !libraries->object || !libraries->cairo) return false;
#define LOOK_UP(library, result, name, arguments)                        \
  *(void **)(void *)&libraries->name = dlsym(libraries->library, #name); \
  if (!libraries->name) return false;
  FUNCTIONS(LOOK_UP)
  return true;
}

bool picture_libraries_found(void) {
  Libraries libraries;
  return libraries_open(&libraries);
}

PictureFormat picture_format(const char *path) {
  static const char *const endings[] = {[PICTURE_SVG] = ".svg", [PICTURE_PNG] = ".png", [PICTURE_PDF] = ".pdf"};
  size_t length = strlen(path), tail = strlen(".svg");
  for (PictureFormat format = PICTURE_SVG; format <= PICTURE_PDF; format++)
    if (length > tail && strcmp(path + length - tail, endings[format]) == 0) return format;
  return PICTURE_NONE;
}

bool pictures_possible(const char *path) {
  PictureFormat format = path ? picture_format(path) : PICTURE_NONE;
  if (format == PICTURE_NONE || format == PICTURE_SVG || picture_libraries_found()) return true;
  return usage_error("'%s' needs librsvg, which is not installed (Debian: librsvg2-2); an .svg file needs nothing",
                     path);
}

/* For cairo: 0 is success, 11 is a write error. */
static int keep_bytes(void *closure, const unsigned char *bytes, unsigned length) {
  enum { WRITE_ERROR = 11 };
  return buffer_append(closure, bytes, length) ? 0 : WRITE_ERROR;
}

/* Draws on a surface with a white background. */
static bool render(const Libraries *call, void *handle, void *surface, Rectangle frame) {
  void *context = call->cairo_create(surface);
  call->cairo_set_source_rgb(context, 1, 1, 1);
  call->cairo_paint(context);
  bool ok = call->rsvg_handle_render_document(handle, context, &frame, NULL);
  call->cairo_destroy(context);
  return ok;
}

/* Our SVGs have the size of the view box. */
static Rectangle frame_of(const char *svg, double scale) {
  Rectangle frame = {0};
  const char *box = strstr(svg, "viewBox=\"");
  if (box) sscanf(box, "viewBox=\"%lf %lf %lf %lf", &frame.x, &frame.y, &frame.width, &frame.height);
  return (Rectangle){0, 0, frame.width * scale, frame.height * scale};
}

static bool convert(const Libraries *call, void *handle, const char *svg, PictureFormat format, Buffer *picture) {
  bool is_pdf = format == PICTURE_PDF;
  Rectangle frame = frame_of(svg, is_pdf ? 0.75 : SCALE); /* PDF has 72 units per inch, SVG has 96 */
  void *surface = is_pdf ? call->cairo_pdf_surface_create_for_stream(keep_bytes, picture, frame.width, frame.height)
                         : call->cairo_image_surface_create(FORMAT_RGB24, (int)frame.width, (int)frame.height);
  bool ok = render(call, handle, surface, frame);
  if (!is_pdf) ok = ok && call->cairo_surface_write_to_png_stream(surface, keep_bytes, picture) == 0;
  call->cairo_surface_finish(surface);
  ok = ok && call->cairo_surface_status(surface) == 0;
  call->cairo_surface_destroy(surface);
  return ok;
}

Buffer picture_convert(const char *svg, PictureFormat format) {
  Libraries call;
  Buffer picture = {0};
  void *handle =
      libraries_open(&call) ? call.rsvg_handle_new_from_data((const unsigned char *)svg, strlen(svg), NULL) : NULL;
  bool ok = handle && convert(&call, handle, svg, format, &picture);
  if (handle) call.g_object_unref(handle);
  if (ok) return picture;
  buffer_free(&picture);
  usage_error("the picture cannot be converted; an .svg file needs no conversion");
  return picture;
}
