/* messages: the module that uses MPI (cli/cluster.h). A message contains rows, each with the number of its point, status, cause and
 * values. An empty message means that the sender has no more rows. Only the main thread calls MPI. */
#include "cli/cluster.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct RowHead {
  uint32_t point, status;
  char cause[248];
} RowHead;

static void join(Cluster *cluster) {
  int provided, rank, size, beside;
  MPI_Comm machine;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &beside);
  MPI_Comm_free(&machine);
  cluster->process = (uint32_t)rank;
  cluster->processes = (uint32_t)size;
  cluster->beside = (uint32_t)beside;
}

/* It does not wait inside MPI, which would keep a core busy. */
static void pause_for(MPI_Request *request) {
  int is_done = 0;
  for (MPI_Test(request, &is_done, MPI_STATUS_IGNORE); !is_done; MPI_Test(request, &is_done, MPI_STATUS_IGNORE))
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *allocate(size_t size) {
  void *bytes = malloc(size ? size : 1);
  if (!bytes) MPI_Abort(MPI_COMM_WORLD, DAEDAL_INTERNAL);
  return bytes;
}

static size_t row_size(const daedal_sweep *sweep) {
  return sizeof(RowHead) + daedal_sweep_row_length(sweep) * sizeof(double);
}

/* One byte for each point: is it finished? */
static void share_finished(const Cluster *cluster, daedal_sweep *sweep) {
  uint32_t points = daedal_sweep_points(sweep);
  char *finished = allocate(points);
  for (uint32_t p = 0; p < points; p++) finished[p] = daedal_sweep_point_finished(sweep, p);
  MPI_Request request;
  MPI_Ibcast(finished, (int)points, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
  pause_for(&request);
  for (uint32_t p = 0; cluster->process && p < points; p++)
    if (finished[p]) daedal_sweep_put(sweep, p, DAEDAL_OK, "", NULL);
  free(finished);
}

static bool begin(Cluster *cluster, daedal_sweep *sweep, bool is_sound) {
  int worst = is_sound ? 0 : 1;
  if (cluster->processes == 1) return is_sound;
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  pause_for(&request);
  if (!worst) share_finished(cluster, sweep);
  return !worst;
}

static void write_row(const daedal_sweep *sweep, uint32_t point, char *bytes) {
  RowHead head = {.point = point, .status = (uint32_t)daedal_sweep_point_status(sweep, point)};
  snprintf(head.cause, sizeof head.cause, "%s", daedal_sweep_point_cause(sweep, point));
  memcpy(bytes, &head, sizeof head);
  memcpy(bytes + sizeof head, daedal_sweep_row(sweep, point), row_size(sweep) - sizeof head);
}

static void send_bytes(const char *bytes, size_t length) {
  MPI_Request request;
  MPI_Isend(bytes, (int)length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
  pause_for(&request);
}

static void send_rows(Cluster *cluster, const daedal_sweep *sweep) {
  enum { MOST_BYTES = 1 << 24 };
  size_t size = row_size(sweep);
  uint32_t count = 0, point;
  while ((count + 1) * size < MOST_BYTES && daedal_sweep_finished(sweep, cluster->sent + count) != UINT32_MAX) count++;
  char *bytes = allocate(count * size);
  for (uint32_t k = 0; k < count && (point = daedal_sweep_finished(sweep, cluster->sent + k)) != UINT32_MAX; k++)
    write_row(sweep, point, bytes + k * size);
  if (count) send_bytes(bytes, count * size);
  cluster->sent += count;
  free(bytes);
}

static void take_rows(daedal_sweep *sweep, const char *bytes, size_t length) {
  for (const char *at = bytes; at < bytes + length; at += row_size(sweep)) {
    RowHead head;
    memcpy(&head, at, sizeof head);
    daedal_sweep_put(sweep, head.point, (daedal_status)head.status, head.cause, (const double *)(at + sizeof head));
  }
}

static void receive_rows(Cluster *cluster, daedal_sweep *sweep) {
  MPI_Status status;
  int is_waiting = 1, length;
  for (;;) {
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_waiting, &status);
    if (!is_waiting) return;
    MPI_Get_count(&status, MPI_CHAR, &length);
    char *bytes = allocate((size_t)length);
    MPI_Recv(bytes, length, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take_rows(sweep, bytes, (size_t)length);
    cluster->ended += !length;
    free(bytes);
  }
}

static void exchange(Cluster *cluster, daedal_sweep *sweep) {
  if (cluster->processes == 1) return;
  if (cluster->process) send_rows(cluster, sweep);
  else receive_rows(cluster, sweep);
}

static void end(Cluster *cluster, daedal_sweep *sweep) {
  MPI_Request request;
  if (cluster->processes == 1) return;
  exchange(cluster, sweep);
  while (cluster->process && daedal_sweep_finished(sweep, cluster->sent) != UINT32_MAX) send_rows(cluster, sweep);
  if (cluster->process) send_bytes("", 0);
  while (!cluster->process && cluster->ended + 1 < cluster->processes) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    exchange(cluster, sweep);
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  pause_for(&request);
}

static void leave(Cluster *cluster) {
  (void)cluster;
  MPI_Finalize();
}

extern const ClusterCalls cluster_calls;
const ClusterCalls cluster_calls = {join, begin, exchange, end, leave};
