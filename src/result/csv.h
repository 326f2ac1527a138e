/* csv: results as comma-separated values: a header with `time` first, then every signal except parameters; numbers with 17
 * significant digits. A name with a comma, a quote or a line break is quoted by RFC 4180: "a[1,2]". */
#pragma once

#include "result/file.h"
#include "result/trajectory.h"

/* Writes header and rows into a file that the caller has created and will commit. O(rows * signals). */
void csv_write(FileWriter *file, const Trajectory *trajectory);

/* The approximate size in bytes of a file with these signals. O(signals). */
double csv_size(const SignalTable *signals, double rows);

/* A cell of text, in quotes if necessary; and a number after the character `before`. */
void csv_put_text(FileWriter *file, const char *text);
void csv_put_number(FileWriter *file, char before, double value);

/* Write a file in pieces: the header, and rows from `first` up to `last`. */
void csv_write_header(FileWriter *file, const SignalTable *signals);
void csv_write_rows(FileWriter *file, const Trajectory *trajectory, size_t first, size_t last);

/* Reads a result from text of `length` bytes; `path` is for messages only. Accepts quoted and unquoted names
 * (an unquoted a[1,2] too), CRLF, a byte order mark, true and false. Signals are of kind SIGNAL_ALGEBRAIC, or
 * SIGNAL_DERIVATIVE for der(...). The trajectory and its table belong to the heap. NULL after reporting a
 * DIAG_FILE error that names the line. O(length). */
Trajectory *csv_read(Heap *heap, Diags *diags, const char *path, const char *text, uint32_t length);
