/* external: the functions that `external "C"` and `external "FORTRAN 77"` refer to. The functions of the Modelica Standard
 * Library's C libraries are built in (functions.def); LAPACK is linked; others come from shared libraries that the user names. A
 * function gets plain numbers, texts and objects. Its arguments are checked against its signature before it runs.
 *
 * Invariant: nothing here is global. Data that outlive a call (states of generators, files read) belong to the ExternalState of a
 * run; objects belong to the heap of that state. An object is never changed after it was made, unless a library of the user made
 * it. */
#pragma once

#include "base/reading.h"

#include <stdint.h>

/* The type of a value, as the letter in a signature: lower case for a scalar, upper case for an array. */
typedef enum ExternalType {
  EXTERNAL_NOTHING = 0,
  EXTERNAL_REAL = 'r',
  EXTERNAL_INTEGER = 'i', /* also Booleans and enumerations */
  EXTERNAL_TEXT = 's',
  EXTERNAL_OBJECT = 'o',
} ExternalType;

/* An object that a constructor made. Equations carry its address as a number, which is exact below 2^53. */
typedef struct ExternalInstance {
  const void *kind; /* address that distinguishes objects of different classes */
  void *content;
  bool is_shared;                 /* it never changes, so several runs may use it at once */
  void (*release)(void *content); /* NULL: nothing to release */
} ExternalInstance;

/* An argument or the result. Arrays are in row-major order. If the function knows its derivatives (External.is_smooth), a Real is
 * an element of the algebra with ExternalCall.nilpotents nilpotents: 2^nilpotents coefficients, the value first. */
typedef struct ExternalValue {
  ExternalType type;
  uint32_t dimensions, count;
  const uint32_t *sizes;
  bool is_output; /* the function writes a result here */
  union {
    double *numbers;
    const char **texts;
    ExternalInstance *object;
  };
} ExternalValue;

struct External;

/* State of the random generator with hidden state: 16 words and a position. */
typedef struct ExternalSeed {
  bool is_set;
  uint64_t words[17];
} ExternalSeed;

/* Data that the calls of one run share; they belong to the heap of the run, in which objects are made. */
typedef struct ExternalState {
  Heap *heap;
  TextVec printed; /* lines that functions print */
  ExternalSeed seed;
  int32_t automatic_seed; /* taken from the clock once in a run; 0: not needed so far */
} ExternalState;

typedef struct ExternalCall {
  const struct External *function;
  ExternalValue *arguments;
  uint32_t count;
  ExternalValue result;
  uint32_t nilpotents;
  ExternalState *state;
  Arena *arena; /* for texts and arrays that the call returns */
  const char *failure;
  bool lacks_right; /* it failed because the user has not allowed it */
} ExternalCall;

/* Effects of a function besides its result. */
typedef enum ExternalEffect {
  EFFECT_NONE,   /* depends on its arguments, and on files that it reads */
  EFFECT_HIDDEN, /* depends on earlier calls, or on the time of day */
  EFFECT_WRITES, /* writes or removes files, changes the environment, or runs commands */
} ExternalEffect;

typedef struct External {
  const char *name;
  /* Result, then `=`, then the arguments: "r=oir" takes an object, an Integer and a Real and returns a Real. NULL: any; the
   * function checks its arguments itself. */
  const char *signature;
  bool (*run)(ExternalCall *call); /* NULL: the machine eliminates linear equations itself */
  ExternalEffect effect;
  bool is_smooth;                      /* its Reals have nilpotents */
  const struct ExternalRights *rights; /* the rights that the user gives; NULL: none */
  /* For a function in a library, run by external_foreign. */
  void (*address)(void);
  bool is_fortran;
  void (*release)(void *object); /* for a constructor: its destructor; NULL if there is none */
  /* For a LAPACK routine, run by external_lapack: its row in functions.def. */
  const char *arguments;
  ExternalType result;
} External;

/* The rights of external functions. */
typedef struct ExternalRights {
  bool may_write;        /* change files and the environment, run commands, and read everywhere */
  VEC(void *) libraries; /* libraries from dlopen, in which functions are looked up, too */
  uint32_t built;        /* number of functions that were compiled, or that failed to compile */
  Reading reading;
} ExternalRights;

/* The function to find: its name, its language, and, for a constructor, the destructor's name, otherwise NULL. */
typedef struct ExternalName {
  const char *name, *destructor;
  bool is_fortran;
} ExternalName;

/* The function of this name. NULL: there is no such function, or it writes files and the rights do not allow that (is_forbidden
 * is then set). The rights must outlive the function. */
const External *external_find(Heap *heap, ExternalName wanted, const ExternalRights *rights, bool *is_forbidden);

/* The address of a function in the libraries of the rights; NULL: there is none. */
void (*external_address(const ExternalRights *rights, const char *name))(void);

/* Allows writing, and the use of these shared libraries (paths separated by commas, may be empty), for the lifetime of the heap.
 * Returns false, with the reason in the arena, if one cannot be opened. */
bool external_allow(Heap *heap, ExternalRights *rights, const char *const *libraries, Arena *arena,
                    const char **failure);

/* The C text of an external function, and the folders and libraries that it needs. */
typedef struct ExternalSource {
  const char *name;              /* of the function */
  const char *include;           /* text; NULL: none, it is in a library */
  const char *include_directory; /* NULL: none */
  const char *library_directory; /* NULL: none */
  const char **libraries;        /* names for the linker */
  uint32_t library_count;
} ExternalSource;

/* Compiles the sources of these functions with the system's compiler in a separate folder, and makes them available. Returns false
 * with the reason in `failure`, which has room for COMPILER_FAILURE characters. The rights must allow writing. */
bool external_build(Heap *heap, ExternalRights *rights, const ExternalSource *sources, uint32_t count, char *failure);

/* The state of the heap, made when first needed. */
ExternalState *external_state(Heap *heap);

/* Do the types of the arguments and the result fit the function? */
bool external_fits(const ExternalCall *call);

/* Checks the arguments and runs the function. false: the reason is in call->failure, which lives in call->arena. */
bool external_run(ExternalCall *call);

/* Converts an object to a number, and back. */
double external_handle(ExternalInstance *object);
ExternalInstance *external_instance(double handle);

/* ---- for the functions ---- */

/* May the function read this file or folder? false after external_fail. */
bool external_may_read(ExternalCall *call, const char *path);

/* Sets the reason of a failure and returns false. */
__attribute__((format(printf, 2, 3))) bool external_fail(ExternalCall *call, const char *format, ...);

/* A new object as the result; its content is in the heap of the state, or its maker releases it. */
bool external_give_object(ExternalCall *call, const void *kind, void *content, bool is_shared);

/* Content of argument `position` if it is an object of this kind; NULL after external_fail. */
void *external_content(ExternalCall *call, uint32_t position, const void *kind);

/* Argument `position` as a number, such as a count of rows. */
double external_number(const ExternalCall *call, uint32_t position);
int64_t external_integer(const ExternalCall *call, uint32_t position);
const char *external_text(const ExternalCall *call, uint32_t position);
bool external_give(ExternalCall *call, double result);
bool external_give_text(ExternalCall *call, const char *text, size_t length);
