/* sweep_trajectories: writes the trajectory of each point to a separate file, or all to one HDF5 file. Until the HDF5 file is
 * written, the trajectories are separate files in FILE.part. So threads and processes need not wait for each other, and a killed
 * sweep can continue. */
#include "api/sweep.h"

#include "result/file.h"
#include "result/hdf5.h"
#include "result/load.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 32 };

bool sweep_place_trajectories(daedal_sweep *sweep, const char *place) {
  daedal_result *asked = sweep->asked;
  Arena *arena = &asked->diags.arena;
  bool is_file = file_has_ending(place, ".h5");
  if (is_file) sweep->collection = arena_copy(arena, place, strlen(place));
  sweep->directory = arena_printf(arena, "%s%s", place, is_file ? ".part" : "");
  if (mkdir(sweep->directory, 0777) == 0 || errno == EEXIST) return true;
  diag_file_error(&asked->diags, "make", sweep->directory, errno);
  return false;
}

/* point_0001 */
static void name_point(const daedal_sweep *sweep, uint32_t point, char name[NAME_SIZE]) {
  int digits = snprintf(name, NAME_SIZE, "%u", sweep->design.points);
  snprintf(name, NAME_SIZE, "point_%0*u", digits, point + 1);
}

/* DIRECTORY/point_0001.csv */
static void file_of_point(const daedal_sweep *sweep, uint32_t point, char path[PATH_SIZE]) {
  char name[NAME_SIZE];
  name_point(sweep, point, name);
  snprintf(path, PATH_SIZE, "%s/%s%s", sweep->directory, name, sweep->collection ? ".mat" : ".csv");
}

/* A run that stops at its start has no rows. */
static bool has_rows(const daedal_result *result) {
  const Recorder *recorder = recorder_of(result);
  return recorder && recorder->trajectory->rows > 0;
}

bool sweep_write_trajectory(const daedal_sweep *sweep, uint32_t point, daedal_result *result) {
  char path[PATH_SIZE];
  if (!sweep->directory) return true;
  file_of_point(sweep, point, path);
  if (has_rows(result)) return api_result_save(result, path) == DAEDAL_OK;
  if (sweep->collection) unlink(path); /* left by another sweep */
  return true;
}

bool sweep_has_trajectory(const daedal_sweep *sweep, uint32_t point) {
  char path[PATH_SIZE];
  if (!sweep->collection) return true;
  file_of_point(sweep, point, path);
  return access(path, R_OK) == 0;
}

/* ---- one file ---- */

/* Lists the values that were varied, and how the run ended. */
static uint32_t list_attributes(const daedal_sweep *sweep, uint32_t point, Hdf5Attribute *attributes) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < design_variables(&sweep->design); k++)
    attributes[count++] =
        (Hdf5Attribute){.name = design_name(&sweep->design, k), .number = design_value(&sweep->design, point, k)};
  attributes[count++] = (Hdf5Attribute){.name = "status", .text = table_status(sweep->status[point])};
  attributes[count++] = (Hdf5Attribute){.name = "cause", .text = sweep->causes[point] ? sweep->causes[point] : ""};
  return count;
}

/* Reads the trajectory of a point. A failed run may have none. false: a trajectory is missing, or cannot be read. */
static bool read_point(const daedal_sweep *sweep, uint32_t point, Heap *heap, const Trajectory **trajectory) {
  char path[PATH_SIZE];
  Diags *diags = &sweep->asked->diags;
  *trajectory = NULL;
  file_of_point(sweep, point, path);
  if (!sweep_has_trajectory(sweep, point)) {
    if (sweep->status[point] != DAEDAL_OK) return true;
    Diag *diag = diag_error(diags, DIAG_FILE, (Span){0}, "the trajectory of point %u is not in `%s`", point + 1, path);
    diag_note(diags, diag, (Span){0},
              "for one file of trajectories all processes of a sweep need the same file system");
    return false;
  }
  *trajectory = load_result(heap, diags, path);
  return *trajectory != NULL;
}

static bool add_point(const daedal_sweep *sweep, uint32_t point, Hdf5Attribute *attributes, Hdf5 *hdf5) {
  char name[NAME_SIZE];
  void *ticket;
  const Trajectory *trajectory;
  Heap *heap = heap_within(sweep->asked->heap, &ticket);
  bool ok = read_point(sweep, point, heap, &trajectory);
  name_point(sweep, point, name);
  if (ok) hdf5_add(hdf5, name, trajectory, attributes, list_attributes(sweep, point, attributes));
  heap_release(sweep->asked->heap, ticket);
  return ok;
}

static bool write_collection(const daedal_sweep *sweep, FileWriter *file) {
  Heap *heap = sweep->asked->heap;
  Hdf5Attribute *attributes = heap_array(heap, design_variables(&sweep->design) + 2, sizeof *attributes);
  Hdf5 *hdf5 = hdf5_begin(heap, file);
  for (uint32_t p = 0; p < sweep->design.points; p++)
    if (!add_point(sweep, p, attributes, hdf5)) return false;
  hdf5_end(hdf5);
  return true;
}

/* Removes the separate files, including those that killed writers have left, ".point_0001...". */
static void remove_parts(const daedal_sweep *sweep) {
  char path[PATH_SIZE];
  DIR *directory = opendir(sweep->directory);
  for (const struct dirent *entry; directory && (entry = readdir(directory));) {
    const char *name = entry->d_name;
    if (strncmp(*name == '.' ? name + 1 : name, "point_", 6) != 0) continue;
    snprintf(path, sizeof path, "%s/%s", sweep->directory, name);
    unlink(path);
  }
  if (directory) closedir(directory);
  rmdir(sweep->directory);
}

static bool collect(daedal_result *asked, const void *argument) {
  const daedal_sweep *sweep = argument;
  FileWriter *file = file_create(asked->heap, &asked->diags, sweep->collection, NULL, NULL);
  bool is_written = file && write_collection(sweep, file);
  if (!is_written) file_abandon(file);
  bool ok = is_written && file_commit(file);
  if (ok) remove_parts(sweep);
  else result_finish(asked, false);
  return ok;
}

bool sweep_collect_trajectories(daedal_sweep *sweep) {
  bool is_whole = atomic_load(&sweep->finished) == sweep->design.points;
  if (!sweep->collection || !is_whole || sweep->process) return true;
  if (!result_protect(sweep->asked, collect, sweep)) return false;
  sweep->collection = NULL;
  return true;
}
