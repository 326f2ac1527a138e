/* linear_report: reports of a linear form: a text, JSON, a MAT file, a Bode plot. */
#pragma once

#include "result/file.h"
#include "vary/linearize.h"

/* Appends the report. The text omits matrices that are too wide to read. */
void linear_report_text(const LinearForm *form, Heap *heap, TextVec *text);

/* form: NULL if there is none; then only the status is written. */
void linear_report_json(const char *status, const LinearForm *form, Heap *heap, TextVec *text);
extern const char linear_report_nothing[];

/* Writes A, B, C, D, x (values), eigenvalues (a column of real parts, one of imaginary parts) and the names as rows of text, as
 * matrices of level 4. */
void linear_report_mat(const LinearForm *form, FileWriter *file);

/* Draws magnitudes in dB and phases in degrees over the angular frequency, as an SVG, or as characters `width` wide. */
void linear_report_bode(const LinearForm *form, const char *title, uint32_t width, uint32_t height, Heap *heap,
                        TextVec *text);
