/* eventless: for models without conditions, discrete values, assertions, kinks and delays, in place of events.c and of the files of the
 * library that it needs. Only the first four functions do anything: the others are never called for such models. */
#include "solver.h"

#include <math.h>
#include <string.h>

int events_initial(Solver *solver, double t, double *y) {
  Scalars *now = solver->now;
  size_t size = (size_t)solver->model->columns * sizeof(double);
  if (!now->is_started) {
    memcpy(solver->event_y, y, size);
    if (!initial_columns(solver, t) || initial_moved(solver, y)) return 1;
  }
  now->is_started = now->is_at_first = 1;
  return states_solve(solver, t, y, state_form_select) != SOLVER_OK;
}

int events_leave_start(Solver *solver, int *any) {
  solver->now->is_at_first = *any = 0;
  return 0;
}

bool watcher_rules_out(Watcher *watcher, const WatchedStep *step) { return (void)watcher, (void)step, true; }

double switching_next_time(Switching *switching, double t, double until, int *mode) {
  (void)switching, (void)t, (void)until;
  *mode = -1;
  return HUGE_VAL;
}

/* ---- events ---- */

void events_enter(Solver *solver) { (void)solver; }
int events_pass(Solver *solver, int mode) { return (void)solver, (void)mode, 0; }
void events_watch(Solver *solver, double t, const double *y) { (void)solver, (void)t, (void)y; }
int events_first(Solver *solver) { return (void)solver, 0; }
int events_end(Solver *solver) { return (void)solver, 0; }
int events_are_lost(const Solver *solver) { return (void)solver, 0; }
void events_report_undefined(const Solver *solver, int mode) { (void)solver, (void)mode; }
double events_indicator(const Solver *solver, int mode) { return (void)solver, (void)mode, 0; }

int when_loop_count(const Decide *decide) { return (void)decide, 0; }
size_t secant_room(int32_t n, int32_t capacity) { return (void)n, (void)capacity, 0; }

/* ---- conditions ---- */

void edges_evaluate(Edges *edges, double t, const double *y) { (void)edges, (void)t, (void)y; }
void edges_rest(Edges *edges, double t, const double *y) { (void)edges, (void)t, (void)y; }
void edges_keep(Edges *edges, double t, const double *y, double step) { (void)edges, (void)t, (void)y, (void)step; }
int edges_first_contradiction(const Edges *edges) { return (void)edges, -1; }
int edges_undefined(Edges *edges, double t, const double *y) { return (void)edges, (void)t, (void)y, -1; }
bool edges_bend(Edges *edges, double t, const double *y) { return (void)edges, (void)t, (void)y, false; }
int edges_escaped(const Edges *edges, double t, double near) { return (void)edges, (void)t, (void)near, -1; }
double edges_leaving(const Edges *edges, int *mode) { return (void)edges, (void)mode, 0; }
void edges_forget_slides(Edges *edges) { (void)edges; }
void edges_set_corner(Edges *edges, int corner) { (void)edges, (void)corner; }
void edges_keep_corner(Edges *edges, int corner, double t, const double *y) {
  (void)edges, (void)corner, (void)t, (void)y;
}
bool edges_mean(Edges *edges, const double *corners, int columns, double *y) {
  return (void)edges, (void)corners, (void)columns, (void)y, false;
}

void switching_begin(Switching *switching, double t, const double *y) { (void)switching, (void)t, (void)y; }

Watcher *watcher_new(Heap *heap, const WatcherPlan *plan) { return (void)heap, (void)plan, NULL; }
bool watcher_find(Watcher *watcher, const WatchedStep *step, double *y, EventBracket *bracket) {
  return (void)watcher, (void)step, (void)y, (void)bracket, false;
}
double watcher_locate(Watcher *watcher, const WatchedStep *step, const EventBracket *bracket, double *y, int *mode) {
  return (void)watcher, (void)step, (void)y, (void)mode, bracket->high;
}
bool watcher_leaves(Watcher *watcher, const WatchedStep *step, double *t, double *y) {
  return (void)watcher, (void)step, (void)t, (void)y, false;
}

/* ---- kinks ---- */

Kinks *kinks_new(Heap *heap, const KinksPlan *plan, const System *system, double start, double tolerance) {
  return (void)heap, (void)plan, (void)system, (void)start, (void)tolerance, NULL;
}
void kinks_forget(Kinks *kinks) { (void)kinks; }
bool kinks_pass(Kinks *kinks, double t, const double *y, double t_end, const double *end) {
  return (void)kinks, (void)t, (void)y, (void)t_end, (void)end, false;
}
bool kinks_are_near(Kinks *kinks, const Segment *segment) { return (void)kinks, (void)segment, false; }
bool kinks_end_steps(const Kinks *kinks, const Segment *segment) { return (void)kinks, (void)segment, false; }
bool kinks_find(Kinks *kinks, const Segment *segment, Kink *kink) {
  return (void)kinks, (void)segment, (void)kink, false;
}
