/* xml: elements and attributes of a document (XML 1.0), as a tree. Text between elements is skipped, and so are comments,
 * instructions and a document type without declarations. Entities other than the five predefined ones and character numbers are an
 * error. */
#pragma once

#include "base/vec.h"

typedef struct XmlAttribute {
  const char *name, *value;
  struct XmlAttribute *next;
} XmlAttribute;

typedef struct XmlElement {
  const char *name;
  XmlAttribute *attributes;
  struct XmlElement *child, *next; /* the first child, and the next sibling */
} XmlElement;

/* The root element of a NUL-terminated text; NULL: *line is the line with the error. */
XmlElement *xml_read(const char *text, Arena *arena, uint32_t *line);

/* The first child of this name, or NULL; the element may be NULL. */
const XmlElement *xml_child(const XmlElement *element, const char *name);

/* The value of an attribute, or NULL; the element may be NULL. */
const char *xml_attribute(const XmlElement *element, const char *name);
