/* cluster: the processes that mpirun started for one sweep, this one among them. Process 0 gathers all rows. Two files implement it:
 * cluster_mpi.c where the build has found MPI, and cluster_alone.c. */
#pragma once

#include "daedal.h"

typedef struct Cluster {
  uint32_t process, processes;
  uint32_t beside; /* processes on this machine */
  uint32_t sent;   /* of the rows finished here */
  uint32_t ended;  /* processes of which process 0 has all rows */
} Cluster;

/* false after a message: mpirun started several processes, and this build has no MPI. */
bool cluster_join(Cluster *cluster);

/* Tells all processes which points process 0 has from an earlier sweep; whether process 0 could begin. */
bool cluster_begin(Cluster *cluster, daedal_sweep *sweep, bool is_sound);

/* Hands over the rows that were finished since; to be called now and then. */
void cluster_exchange(Cluster *cluster, daedal_sweep *sweep);

/* Hands over the last rows, and waits for those of the others. */
void cluster_end(Cluster *cluster, daedal_sweep *sweep);

void cluster_leave(Cluster *cluster);
