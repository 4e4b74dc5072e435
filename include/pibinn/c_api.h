// room: infer
#ifndef PIBINN_C_API_H
#define PIBINN_C_API_H

/* Recovering signals from C, and from any language that can call C. Every function may be called
 * from any thread; none lets a C++ exception out. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pibinn_status {
    PIBINN_OK = 0,
    PIBINN_USAGE_ERROR = 1,   /* asked for what does not exist or does not fit together */
    PIBINN_INPUT_ERROR = 2,   /* the model file or the measurements are wrong */
    PIBINN_IO_ERROR = 3,      /* the system refused a file operation */
    PIBINN_FAILED = 4,        /* the work itself failed, for want of memory for one */
    PIBINN_INTERNAL_ERROR = 5 /* a bug in pibinn */
} pibinn_status;

/* A model that is ready to recover. It never changes: any number of threads may use one. */
typedef struct pibinn_model pibinn_model;
/* Memory for the numbers of one recovery at a time: one for each thread. */
typedef struct pibinn_workspace pibinn_workspace;

/* "0.1.0" */
const char* pibinn_version(void);

/* What the last error of the calling thread was, "WHAT; HINT"; empty where there was none. The text
 * stays until the thread's next error. */
const char* pibinn_last_error(void);

/* Loads a model file as `pibinn train` writes it. Where this fails, *model is NULL. */
pibinn_status pibinn_load(const char* path, pibinn_model** model);
/* NULL is allowed. The workspaces of the model may be freed before or after it. */
void pibinn_free(pibinn_model* model);

/* Floats in a row of y, and in a row of x; 0 of NULL. A complex number is two floats. */
size_t pibinn_measurements(const pibinn_model* model);
size_t pibinn_entries(const pibinn_model* model);

/* 1 where the numbers of y, or of x, are complex; otherwise 0. A complex number stands in its row
 * as real part and imaginary part, one after the other, as in arrays of `float complex`. A model of
 * complex signals has complex measurements; one of real signals may have them, too. */
int pibinn_complex_measurements(const pibinn_model* model);
int pibinn_complex_entries(const pibinn_model* model);

/* Recovers `rows` signals: y holds rows x measurements floats, row after row, and x has room for
 * rows x entries floats. As `pibinn recover`, it gives signals where the model has a basis, and
 * refuses values that are no numbers. A row's result does not depend on the rows beside it. Every
 * number of x is finite where this returns PIBINN_OK. Measurements over 1e30, and those that
 * overflow in a network that amplifies them, are PIBINN_INPUT_ERROR; the error names the first such
 * row, and what x holds is not specified then. */
pibinn_status pibinn_recover(const pibinn_model* model, const float* y, size_t rows, float* x);

/* The same in memory that is there: without an allocation where the model is one-bit or ternary,
 * unrolled and without a basis. */
pibinn_status pibinn_recover_in(const pibinn_model* model, pibinn_workspace* workspace,
                                const float* y, size_t rows, float* x);

pibinn_status pibinn_workspace_new(const pibinn_model* model, pibinn_workspace** workspace);
/* NULL is allowed. */
void pibinn_workspace_free(pibinn_workspace* workspace);

#ifdef __cplusplus
}
#endif

#endif
