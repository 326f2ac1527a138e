/* delayless: for models without delays, in place of delays.c and of the files that it needs. Nothing here is called. */
#include "delays.h"

bool delays_guess(Delays *delays, double t, const double *y) { return (void)delays, (void)t, (void)y, false; }
void delays_begin(Delays *delays, double t, const double *y) { (void)delays, (void)t, (void)y; }
void delays_read(Delays *delays, double t, const double *y) { (void)delays, (void)t, (void)y; }
int delays_fault(const Delays *delays) { return (void)delays, -1; }
double delays_longest_step(Delays *delays, double t, const double *y) { return (void)delays, (void)t, (void)y, 0; }
double delays_moved(Delays *delays, double t, const double *y) { return (void)delays, (void)t, (void)y, 0; }
double delays_end(const Delays *delays) { return (void)delays, 0; }
double delays_next_time(const Delays *delays, double t) { return (void)delays, t; }
bool delays_pass(Delays *delays, double t, const double *y) { return (void)delays, (void)t, (void)y, false; }
bool delays_keep_step(Delays *delays, const DelaysStep *step, bool *is_smooth) {
  return (void)delays, (void)step, *is_smooth = true;
}
bool delays_have_room(const Delays *delays) { return (void)delays, true; }
void delays_note(Delays *delays, double t, const double *y, bool is_kink) {
  (void)delays, (void)t, (void)y, (void)is_kink;
}
