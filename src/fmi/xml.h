/* xml: elements and attributes of a document (XML 1.0), as a tree. Text between elements is left out, and so are comments,
 * instructions and a document type without declarations of its own; entities other than the five and numbers are an error. */
#pragma once

#include "base/vec.h"

typedef struct XmlAttribute {
  const char *name, *value;
  struct XmlAttribute *next;
} XmlAttribute;

typedef struct XmlElement {
  const char *name;
  XmlAttribute *attributes;
  struct XmlElement *child, *next; /* the first one inside, and the next one beside */
} XmlElement;

/* The root element of a text that ends with NUL; NULL, and the line that is wrong. */
XmlElement *xml_read(const char *text, Arena *arena, uint32_t *line);

/* The first child of this name, or NULL; also of NULL. */
const XmlElement *xml_child(const XmlElement *element, const char *name);

/* The value of an attribute, or NULL; also of NULL. */
const char *xml_attribute(const XmlElement *element, const char *name);
