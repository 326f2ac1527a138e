/* ida_peer: the common part of the hand-written IDA programs with which bench/ivp compares daedal. They have a residual in C,
 * reduced to index 1 by hand, and use stock IDA with its dense solver and difference quotients. Usage: PROGRAM TOLERANCE
 * [REPEATS]; one line of JSON. */
#ifndef BENCH_IDA_PEER_H
#define BENCH_IDA_PEER_H

typedef struct Peer {
  int n;
  double stop;
  int (*residual)(double t, const double *y, const double *yp, double *r);
  void (*start)(double *y, double *yp); /* differential part exact, the rest a guess */
  const double *is_differential;        /* 1 or 0 per component */
  const char *const *names;             /* names of the components printed; NULL-terminated */
} Peer;

int peer_main(const Peer *peer, int count, char **arguments);

#endif
