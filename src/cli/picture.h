/* picture: formats of pictures. SVG is what daedal draws; PNG and PDF are made of it by librsvg and cairo, which are
 * loaded when they are needed, so that the command does without them elsewhere. */
#pragma once

#include "cli/buffer.h"

typedef enum PictureFormat { PICTURE_NONE, PICTURE_SVG, PICTURE_PNG, PICTURE_PDF } PictureFormat;

/* By the ending of the path. */
PictureFormat picture_format(const char *path);

/* Can a picture of that name be made here? false after a message. NULL is not a picture. */
bool pictures_possible(const char *path);

/* The libraries are here, for `daedal doctor`. */
bool picture_libraries_found(void);

/* An SVG text as PNG or PDF. Nothing after a message if it fails; the caller frees it. */
Buffer picture_convert(const char *svg, PictureFormat format);
