/* cluster: the processes that mpirun started for one sweep, including this one. Process 0 gathers all rows. */
#pragma once

#include "daedal.h"

typedef struct Cluster Cluster;

/* The functions of the MPI module (mpi/messages.c), which it exports under the name CLUSTER_CALLS. */
typedef struct ClusterCalls {
  void (*join)(Cluster *cluster);
  bool (*begin)(Cluster *cluster, daedal_sweep *sweep, bool is_sound);
  void (*exchange)(Cluster *cluster, daedal_sweep *sweep);
  void (*end)(Cluster *cluster, daedal_sweep *sweep);
  void (*leave)(Cluster *cluster);
} ClusterCalls;

#define CLUSTER_CALLS "cluster_calls"

struct Cluster {
  const ClusterCalls *calls; /* NULL: there is only this process */
  uint32_t process, processes;
  uint32_t beside; /* processes on this machine */
  uint32_t sent;   /* rows of this process that were sent */
  uint32_t ended;  /* processes whose rows have all arrived at process 0 */
};

/* Did mpirun start this process? */
bool cluster_expected(void);

/* false after a message: mpirun started several processes, but the module was not found. */
bool cluster_join(Cluster *cluster);

/* Sends all processes the points that process 0 has from an earlier sweep. Returns whether process 0 could begin. */
bool cluster_begin(Cluster *cluster, daedal_sweep *sweep, bool is_sound);

/* Sends the rows that were finished since the last call; call it from time to time. */
void cluster_exchange(Cluster *cluster, daedal_sweep *sweep);

/* Sends the last rows, and waits for those of the other processes. */
void cluster_end(Cluster *cluster, daedal_sweep *sweep);

void cluster_leave(Cluster *cluster);

/* Can the module be found? */
bool cluster_found(void);
