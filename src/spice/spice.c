/* spice: a netlist to a flat model: cards, blocks, elements, network, equations; each step in its own file (circuit.h). */
#include "spice/spice.h"

#include "spice/equations.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

bool spice_is_netlist(const char *path) {
  static const char *const endings[] = {".cir", ".sp", ".net"};
  const char *dot = path ? strrchr(path, '.') : NULL;
  for (size_t k = 0; dot && k < sizeof endings / sizeof *endings; k++) {
    size_t length = strlen(endings[k]), same = 0;
    while (same <= length && tolower((unsigned char)dot[same]) == endings[k][same] && dot[same]) same++;
    if (same == length && !dot[same]) return true;
  }
  return false;
}

/* The longest part of the file's name, without folder and ending, that is an identifier. */
static Name model_name_of(Circuit *circuit, const char *path) {
  const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path, *dot = strrchr(begin, '.');
  size_t length = dot ? (size_t)(dot - begin) : strlen(begin);
  if (!length) return names_add(circuit->names, "circuit", 7);
  char *name = arena_alloc(circuit->arena, length + 2);
  size_t at = 0;
  if (!isalpha((unsigned char)*begin)) name[at++] = 'c';
  for (size_t k = 0; k < length; k++) name[at++] = isalnum((unsigned char)begin[k]) ? begin[k] : '_';
  return names_add(circuit->names, name, at);
}

/* The source begins again half a step after its last value (swept_value). */
double spice_sweep_at(const SweepScale *sweep, double time) {
  if (sweep->period > 0) time -= sweep->period * floor((time + fabs(sweep->step) / 2) / sweep->period);
  return sweep->start + (sweep->step < 0 ? -time : time);
}

static void write_experiment(Circuit *circuit, Model *model) {
  Experiment *experiment = &model->experiment;
  if (circuit->analysis == ANALYSIS_SWEEP) {
    const Sweep *first = &circuit->sweeps[0], *second = &circuit->sweeps[1];
    double step = fabs(first->step), points = sweep_points(first);
    if (circuit->sweep_count == 2) points *= sweep_points(second);
    circuit->made->sweep = (SweepScale){first->start, first->stop >= first->start ? step : -step,
                                        circuit->sweep_count == 2 ? step * sweep_points(first) : 0,
                                        names_text(circuit->names, first->source)[0] == 'i'};
    *experiment = (Experiment){
        .has_start = true, .has_stop = true, .has_interval = true, .stop = step * (points - 1), .interval = step};
  } else if (circuit->analysis == ANALYSIS_OPERATING_POINT) {
    *experiment = (Experiment){.has_start = true, .has_stop = true, .has_interval = true, .interval = 1};
  } else if (circuit->analysis_card) {
    *experiment = (Experiment){
        .has_start = true, .has_stop = true, .has_interval = true, .stop = circuit->stop, .interval = circuit->step};
  }
  if (circuit->options.reltol > 0) {
    experiment->has_tolerance = true;
    experiment->tolerance = circuit->options.reltol;
  }
}

static bool check_source(Circuit *circuit, Name source) {
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->name == source && branch->is_independent) return true;
  }
  card_error(circuit->diags, circuit->analysis_card, 0, CARD_END,
             "%s, which is to be swept, is not an independent source of this circuit",
             names_text(circuit->names, source));
  return false;
}

static bool check_swept(Circuit *circuit) {
  for (uint32_t k = 0; circuit->analysis == ANALYSIS_SWEEP && k < circuit->sweep_count; k++)
    if (!check_source(circuit, circuit->sweeps[k].source)) return false;
  return true;
}

static bool has_kind(const Circuit *circuit, BranchKind kind) {
  for (uint32_t b = 0; b < circuit->branches.count; b++)
    if (circuit->branches.data[b].kind == kind) return true;
  return false;
}

static bool fill(Circuit *circuit, SpiceModel *made) {
  Network network;
  if (!check_swept(circuit) || !network_make(&network, circuit)) return false;
  made->topology = network_topology(&network);
  made->rings = has_kind(circuit, BRANCH_INDUCTOR) && has_kind(circuit, BRANCH_CAPACITOR);
  made->analysis = circuit->analysis;
  if (circuit->missing_card) {
    size_t length = strcspn(circuit->missing_card->text, " ");
    made->missing = names_text(circuit->names, names_add(circuit->names, circuit->missing_card->text, length));
    made->missing_span = card_whole(circuit->missing_card);
  }
  bool starts_there = is_run_over_time(circuit);
  if (!starts_there || !circuit->uses_initial) {
    if (circuit->guesses.count) made->held_point = write_operating_point(circuit, true);
    made->operating_point = write_operating_point(circuit, false);
  }
  if (starts_there && !write_transient(circuit, &network)) return false;
  made->model = starts_there ? circuit->model : made->operating_point;
  add_warnings(circuit, made->model);
  if (!starts_there) made->operating_point = NULL;
  write_experiment(circuit, made->model);
  return true;
}

/* Only the model stays. */
static void forget_circuit(Circuit *circuit) {
  vec_free(circuit->heap, &circuit->deck.cards, &circuit->values, &circuit->nodes, &circuit->branches,
           &circuit->couplings);
  vec_free(circuit->heap, &circuit->currents, &circuit->current_cards, &circuit->initial, &circuit->guesses);
  map_free(&circuit->node_of);
  map_free(&circuit->branch_of);
  map_free(&circuit->element_of);
  arena_free(circuit->arena);
}

bool spice_load(SpiceModel *made, Heap *heap, Names *names, Source *source, const SpiceOptions *options, Diags *diags) {
  *made = (SpiceModel){0};
  Arena arena = arena_make(heap);
  Model *model = model_new(heap, names);
  model->source = source;
  Circuit circuit = {.heap = heap,
                     .arena = &arena,
                     .names = names,
                     .diags = diags,
                     .dag = model->dag,
                     .model = model,
                     .asked = options,
                     .made = made,
                     .options = {.gmin = 1e-12,
                                 .temperature = 27,
                                 .nominal_temperature = 27,
                                 .channel_length = 1e-4,
                                 .channel_width = 1e-4},
                     .node_of = map_make(heap),
                     .branch_of = map_make(heap),
                     .element_of = map_make(heap),
                     .step = 1 / 500.0,
                     .stop = 1};
  budget_task(heap_budget(heap), "the netlist");
  bool done = deck_read(&circuit.deck, &arena, source, options->files, diags) && read_blocks(&circuit);
  if (done) {
    model->name = model_name_of(&circuit, source_main(source)->path);
    model->description = names_add(names, circuit.deck.title, strlen(circuit.deck.title));
    circuit_node(&circuit, "0", NULL);
    done = read_elements(&circuit) && fill(&circuit, made);
  }
  forget_circuit(&circuit);
  return done;
}
