// What the C test cannot make by itself: model files, what the C++ library recovers with them, and
// how often memory was asked for.
#ifndef PIBINN_TESTS_C_API_FIXTURE_H
#define PIBINN_TESTS_C_API_FIXTURE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kRows = 70, kMeasurements = 8, kEntries = 12 };

typedef enum fixture_kind {
    FIXTURE_ONE_BIT,
    FIXTURE_FLOAT,
    FIXTURE_BASIS,
    FIXTURE_COMPLEX,
    FIXTURE_COMPLEX_FLOAT,
    FIXTURE_COMPLEX_VECTORS,      // two vectors per row
    FIXTURE_COMPLEX_POLISHED,     // the same, with groups of rows and polish
    FIXTURE_COMPLEX_MEASUREMENTS  // of real signals
} fixture_kind;

// Writes the model to a file, some measurements to y and their signals to x; 0 where all is well.
int fixture_write(fixture_kind kind, const char* path, float* y, float* x);
size_t fixture_allocations(void);

#ifdef __cplusplus
}
#endif

#endif
