/* cluster_alone: a build without MPI. */
#include "cli/cluster.h"
#include "cli/suggest.h"

#include <stdlib.h>

bool cluster_join(Cluster *cluster) {
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  *cluster = (Cluster){.processes = 1, .beside = 1};
  if (!size) size = getenv("PMI_SIZE");
  return !size || atoi(size) <= 1 || usage_error("this build has no MPI: mpirun cannot spread the sweep");
}

bool cluster_begin(Cluster *cluster, daedal_sweep *sweep, bool is_sound) {
  (void)cluster, (void)sweep;
  return is_sound;
}

void cluster_exchange(Cluster *cluster, daedal_sweep *sweep) { (void)cluster, (void)sweep; }
void cluster_end(Cluster *cluster, daedal_sweep *sweep) { (void)cluster, (void)sweep; }
void cluster_leave(Cluster *cluster) { (void)cluster; }
