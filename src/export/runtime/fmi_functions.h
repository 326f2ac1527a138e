/* fmi_functions: functions that both versions of the interface have with the same arguments. The file of a version includes this
 * once. Before that it defines its types (Status, Handle, StateBytes, Byte), its names (FMI(name); STATE(before, after) for
 * functions with a saved state; DESERIALIZE and DERIVATIVES, which are spelled differently), and `of` and `status`. */

/* ---- modes ---- */

EXPORT Status FMI(ExitInitializationMode)(Handle handle) { return status(instance_begin(of(handle))); }
EXPORT Status FMI(EnterEventMode)(Handle handle) { return status(instance_enter(of(handle), PHASE_EVENT)); }
EXPORT Status FMI(EnterContinuousTimeMode)(Handle handle) {
  return status(instance_enter(of(handle), PHASE_CONTINUOUS));
}
EXPORT Status FMI(Terminate)(Handle handle) { return status(instance_end(of(handle))); }
EXPORT Status FMI(Reset)(Handle handle) { return status(instance_reset(of(handle))); }

/* ---- states of the whole ---- */

EXPORT Status STATE(Get, )(Handle handle, StateBytes *state) { return status(instance_get_state(of(handle), state)); }
EXPORT Status STATE(Set, )(Handle handle, StateBytes state) { return status(instance_set_state(of(handle), state)); }
EXPORT Status STATE(Free, )(Handle handle, StateBytes *state) { return status(instance_free_state(of(handle), state)); }

EXPORT Status STATE(Serialized, Size)(Handle handle, StateBytes state, size_t *size) {
  return status(instance_serialized_size(of(handle), state, size));
}

EXPORT Status STATE(Serialize, )(Handle handle, StateBytes state, Byte bytes[], size_t size) {
  return status(instance_serialize(of(handle), state, bytes, size));
}

EXPORT Status DESERIALIZE(Handle handle, const Byte bytes[], size_t size, StateBytes *state) {
  return status(instance_deserialize(of(handle), bytes, size, state));
}

/* ---- model exchange ---- */

EXPORT Status FMI(SetTime)(Handle handle, double time) { return status(instance_set_time(of(handle), time)); }

EXPORT Status FMI(SetContinuousStates)(Handle handle, const double states[], size_t count) {
  return status(instance_set_states(of(handle), states, count));
}

EXPORT Status FMI(GetContinuousStates)(Handle handle, double states[], size_t count) {
  return status(instance_states(of(handle), states, count));
}

EXPORT Status FMI(GetNominalsOfContinuousStates)(Handle handle, double nominals[], size_t count) {
  return status(instance_nominals(of(handle), nominals, count));
}

EXPORT Status DERIVATIVES(Handle handle, double derivatives[], size_t count) {
  return status(instance_derivatives(of(handle), derivatives, count));
}

EXPORT Status FMI(GetEventIndicators)(Handle handle, double indicators[], size_t count) {
  return status(instance_indicators(of(handle), indicators, count));
}
