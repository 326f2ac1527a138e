/* picture: formats of pictures. daedal draws SVG. librsvg and cairo convert it to PNG and PDF; they are loaded only when
 * needed, so the command also runs without them. */
#pragma once

#include "cli/buffer.h"

typedef enum PictureFormat { PICTURE_NONE, PICTURE_SVG, PICTURE_PNG, PICTURE_PDF } PictureFormat;

/* The format by the ending of the path. */
PictureFormat picture_format(const char *path);

/* Can a picture with this name be made here? false after a message. NULL: no picture is requested. */
bool pictures_possible(const char *path);

/* Are the libraries installed? For `daedal doctor`. */
bool picture_libraries_found(void);

/* Converts an SVG text to PNG or PDF. Empty after a message if that fails. The caller frees it. */
Buffer picture_convert(const char *svg, PictureFormat format);
