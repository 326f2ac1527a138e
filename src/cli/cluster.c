/* cluster: see cluster.h. Loading the MPI libraries takes longer than running most models, so the module that needs them is loaded
 * only under mpirun. The module is next to the command, or where it was installed. */
#include "cli/cluster.h"
#include "cli/suggest.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *load_beside(const char *path) {
  char name[PATH_MAX + sizeof MODULE_PATH];
  ssize_t length = readlink("/proc/self/exe", name, PATH_MAX);
  if (length <= 0) return NULL;
  name[length] = '\0';
  strcpy(strrchr(name, '/') + 1, path);
  return dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

static void *load_module(void) {
  void *module = load_beside("daedal_mpi.so");
  return module ? module : load_beside(MODULE_PATH);
}

static const ClusterCalls *load_calls(void) {
  void *module = load_module();
  return module ? dlsym(module, CLUSTER_CALLS) : NULL;
}

bool cluster_found(void) {
  void *module = load_module();
  if (module) dlclose(module);
  return module;
}

/* The number of processes, as a text from mpirun; NULL: there is none. */
static const char *given_size(void) {
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  return size ? size : getenv("PMI_SIZE");
}

bool cluster_expected(void) { return given_size() || getenv("PMIX_RANK"); }

bool cluster_join(Cluster *cluster) {
  const char *size = given_size();
  *cluster = (Cluster){.processes = 1, .beside = 1};
  if (!cluster_expected()) return true;
  cluster->calls = load_calls();
  if (!cluster->calls)
    return !size || atoi(size) <= 1 ||
           usage_error(
               "mpirun cannot distribute the sweep: this daedal is without MPI, or without its module daedal_mpi.so "
               "(Debian: the package daedal-mpi)");
  cluster->calls->join(cluster);
  return true;
}

bool cluster_begin(Cluster *cluster, daedal_sweep *sweep, bool is_sound) {
  return cluster->calls ? cluster->calls->begin(cluster, sweep, is_sound) : is_sound;
}

void cluster_exchange(Cluster *cluster, daedal_sweep *sweep) {
  if (cluster->calls) cluster->calls->exchange(cluster, sweep);
}

void cluster_end(Cluster *cluster, daedal_sweep *sweep) {
  if (cluster->calls) cluster->calls->end(cluster, sweep);
}

void cluster_leave(Cluster *cluster) {
  if (cluster->calls) cluster->calls->leave(cluster);
}
