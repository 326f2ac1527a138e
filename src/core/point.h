/* point: the values at which expressions are evaluated, and how an evaluation ended. */
#pragma once

typedef enum EvalStatus {
  EVAL_OK = 0,
  EVAL_DOMAIN = 1, /* outside the domain of an operator, or an inner solve failed: try a smaller step */
  EVAL_STOP = -1,  /* a smaller step does not help */
} EvalStatus;

/* Values of all leaves. y holds the columns: (j, k) is at layout->column_start[j] + k. */
typedef struct Point {
  double time;
  const double *y;
  const double *parameters;
  const double *discretes;
  const double *pre; /* pre() of the discretes */
} Point;

/* A time, and all columns at this time. */
typedef struct Moment {
  double t, *y;
} Moment;

typedef struct ConstMoment {
  double t;
  const double *y;
} ConstMoment;
