/* lists: parses option texts that are lists, such as a=1,b=2, into the structs of daedal.h. Each call appends to the
 * values of earlier options. false: a message says what is wrong. The arguments own the memory. */
#pragma once

#include "cli/command.h"

bool names_append(Arguments *arguments, const char *option, const char *text, const char *const **list); /* a,b */
bool libraries_append(Arguments *arguments, const char *text, const char *const **list); /* a.so,b.so, or nothing */
bool overrides_append(Arguments *arguments, const char *option, const char *text, OverrideList *list); /* a=1,b={1,2} */
bool run_take_texts(Arguments *arguments); /* copies --input, --start-from and --gradient to the options of the run */
bool outputs_take(Arguments *arguments);   /* --outputs of a sweep */
bool values_append(Arguments *arguments, const char *option, const char *text, ValueList *list);  /* a=1,b=2 */
bool guesses_append(Arguments *arguments, const char *option, const char *text, GuessList *list); /* a=1,b=2:0:9,c */
bool pairs_append(Arguments *arguments, const char *option, const char *text, PairList *list);    /* x,y; u,v */
bool axis_append(Arguments *arguments, const char *option, const char *text, AxisList *list);     /* a=1:0.1:2 */
bool distribution_append(Arguments *arguments, const char *option, const char *text,
                         DistributionList *list);   /* a=normal(1,0.1) */
bool limits_read(const char *text, Limits *limits); /* memory=8G,work=1e10 */
