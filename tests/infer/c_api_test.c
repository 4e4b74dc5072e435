// The C interface, used from C. Called with a folder for its files.
#include "pibinn/c_api.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "infer/c_api_fixture.h"

static int failures = 0;

static void check(int holds, const char* what, int line) {
    if (holds) return;
    fprintf(stderr, "c_api_test.c:%d: %s does not hold; last error: '%s'\n", line, what,
            pibinn_last_error());
    ++failures;
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define CHECK_REFUSED(call, kind, word) \
    (CHECK((call) == (kind)), CHECK(strstr(pibinn_last_error(), (word)) != NULL))

static float y[kRows * kMeasurements];
static float expected[kRows * kEntries];
static float x[kRows * kEntries];

static pibinn_model* load(fixture_kind kind, const char* path) {
    pibinn_model* model = NULL;
    CHECK(fixture_write(kind, path, y, expected) == 0);
    CHECK(pibinn_load(path, &model) == PIBINN_OK);
    CHECK(model != NULL);
    return model;
}

static void recovers_what_the_library_does(fixture_kind kind, const char* path) {
    pibinn_model* const model = load(kind, path);
    pibinn_workspace* workspace = NULL;
    CHECK(pibinn_measurements(model) == kMeasurements);
    CHECK(pibinn_entries(model) == kEntries);
    CHECK(pibinn_complex_measurements(model) == (kind >= FIXTURE_COMPLEX));
    CHECK(pibinn_complex_entries(model) ==
          (kind >= FIXTURE_COMPLEX && kind != FIXTURE_COMPLEX_MEASUREMENTS));
    CHECK(pibinn_recover(model, y, kRows, x) == PIBINN_OK);
    CHECK(memcmp(x, expected, sizeof x) == 0);

    // Row by row, as signals come, in a workspace that is used again.
    CHECK(pibinn_workspace_new(model, &workspace) == PIBINN_OK);
    memset(x, 0, sizeof x);
    const size_t before = fixture_allocations();
    for (size_t i = 0; i < kRows; ++i)
        CHECK(pibinn_recover_in(model, workspace, y + i * kMeasurements, 1, x + i * kEntries) ==
              PIBINN_OK);
    if (kind != FIXTURE_FLOAT && kind != FIXTURE_COMPLEX_FLOAT && kind != FIXTURE_BASIS)
        CHECK(fixture_allocations() == before);
    // The floating-point network adds up a row in another order when it is alone.
    for (size_t i = 0; i < kRows * kEntries; ++i)
        CHECK(kind == FIXTURE_FLOAT || kind == FIXTURE_COMPLEX_FLOAT
                  ? fabsf(x[i] - expected[i]) < 1e-5F
                  : x[i] == expected[i]);
    pibinn_free(model);
    pibinn_workspace_free(workspace);
}

typedef struct job {
    const pibinn_model* model;
    int right;
} job;

static void* recover_many_times(void* data) {
    job* const mine = data;
    float found[kRows * kEntries];
    mine->right = 1;
    for (int k = 0; k < 50; ++k) {
        memset(found, 0, sizeof found);
        if (pibinn_recover(mine->model, y, kRows, found) != PIBINN_OK ||
            memcmp(found, expected, sizeof found) != 0)
            mine->right = 0;
    }
    if (pibinn_recover(NULL, y, 1, found) == PIBINN_OK) mine->right = 0;
    return NULL;
}

static void serves_many_threads_and_tells_each_its_own_errors(const char* path) {
    enum { kThreads = 4 };
    pibinn_model* const model = load(FIXTURE_ONE_BIT, path);
    pibinn_model* none = NULL;
    pthread_t threads[kThreads];
    job jobs[kThreads];
    CHECK_REFUSED(pibinn_load("no such file", &none), PIBINN_IO_ERROR, "no such file");
    for (int i = 0; i < kThreads; ++i) {
        jobs[i].model = model;
        CHECK(pthread_create(&threads[i], NULL, recover_many_times, &jobs[i]) == 0);
    }
    for (int i = 0; i < kThreads; ++i) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(jobs[i].right);
    }
    CHECK(strstr(pibinn_last_error(), "no such file") != NULL);
    pibinn_free(model);
}

static void refuses_what_is_wrong(const char* path) {
    pibinn_model* const model = load(FIXTURE_ONE_BIT, path);
    pibinn_model* other = load(FIXTURE_ONE_BIT, path);
    pibinn_model* none = model;
    pibinn_workspace* workspace = NULL;

    CHECK_REFUSED(pibinn_load(NULL, &none), PIBINN_USAGE_ERROR, "path is NULL");
    CHECK(none == NULL);
    CHECK_REFUSED(pibinn_load(path, NULL), PIBINN_USAGE_ERROR, "model is NULL");
    CHECK_REFUSED(pibinn_load("no such file", &none), PIBINN_IO_ERROR, "no such file");
    CHECK(none == NULL);

    CHECK(pibinn_measurements(NULL) == 0 && pibinn_entries(NULL) == 0);
    CHECK_REFUSED(pibinn_recover(NULL, y, 1, x), PIBINN_USAGE_ERROR, "model is NULL");
    CHECK_REFUSED(pibinn_recover(model, NULL, 1, x), PIBINN_USAGE_ERROR, "y is NULL");
    CHECK_REFUSED(pibinn_recover(model, y, 1, NULL), PIBINN_USAGE_ERROR, "x is NULL");
    CHECK(pibinn_recover(model, NULL, 0, NULL) == PIBINN_OK);

    CHECK_REFUSED(pibinn_workspace_new(NULL, &workspace), PIBINN_USAGE_ERROR, "model is NULL");
    CHECK_REFUSED(pibinn_workspace_new(model, NULL), PIBINN_USAGE_ERROR, "workspace is NULL");
    CHECK_REFUSED(pibinn_recover_in(model, NULL, y, 1, x), PIBINN_USAGE_ERROR, "workspace is NULL");
    CHECK(pibinn_workspace_new(other, &workspace) == PIBINN_OK);
    CHECK_REFUSED(pibinn_recover_in(model, workspace, y, 1, x), PIBINN_USAGE_ERROR,
                  "another model");

    /* The next model may get the address of the one that is freed. */
    pibinn_free(other);
    other = load(FIXTURE_FLOAT, path);
    CHECK_REFUSED(pibinn_recover_in(other, workspace, y, 1, x), PIBINN_USAGE_ERROR,
                  "another model");

    y[2 * kMeasurements + 3] = NAN;
    x[0] = 77;
    CHECK_REFUSED(pibinn_recover(model, y, kRows, x), PIBINN_INPUT_ERROR, "row 2, column 3");
    CHECK(x[0] == 77);

    /* Finite measurements may overflow on the way: that is never passed off as a result. */
    y[2 * kMeasurements + 3] = 3e38F;
    CHECK_REFUSED(pibinn_recover(model, y, kRows, x), PIBINN_INPUT_ERROR, "3e+38 at row 2");
    CHECK_REFUSED(pibinn_recover(other, y, kRows, x), PIBINN_INPUT_ERROR, "3e+38 at row 2");
    CHECK(pibinn_recover(model, y, 2, x) == PIBINN_OK);

    pibinn_workspace_free(workspace);
    pibinn_workspace_free(NULL);
    pibinn_free(other);
    pibinn_free(model);
    pibinn_free(NULL);
}

static void names_the_callers_place(const char* path) {
    pibinn_model* const model = load(FIXTURE_COMPLEX, path);
    y[66 * kMeasurements + 3] = NAN;
    CHECK_REFUSED(pibinn_recover(model, y, kRows, x), PIBINN_INPUT_ERROR, "row 66, column 3");
    CHECK(pibinn_complex_measurements(NULL) == 0 && pibinn_complex_entries(NULL) == 0);
    pibinn_free(model);
}

static void refuses_a_damaged_file(const char* path) {
    pibinn_model* model = NULL;
    FILE* const file = fopen(path, "wb");
    CHECK(file != NULL && fputs("this is no model", file) >= 0 && fclose(file) == 0);
    CHECK_REFUSED(pibinn_load(path, &model), PIBINN_INPUT_ERROR, path);
    CHECK(model == NULL);
}

int main(int count, char** words) {
    char path[4096];
    if (count != 2 || snprintf(path, sizeof path, "%s/c_api_model.safetensors", words[1]) < 0) {
        fprintf(stderr, "usage: c_api_test FOLDER\n");
        return 2;
    }
    CHECK(strcmp(pibinn_last_error(), "") == 0);
    CHECK(strcmp(pibinn_version(), PIBINN_EXPECTED_VERSION) == 0);
    recovers_what_the_library_does(FIXTURE_ONE_BIT, path);
    recovers_what_the_library_does(FIXTURE_FLOAT, path);
    recovers_what_the_library_does(FIXTURE_BASIS, path);
    recovers_what_the_library_does(FIXTURE_COMPLEX, path);
    recovers_what_the_library_does(FIXTURE_COMPLEX_FLOAT, path);
    recovers_what_the_library_does(FIXTURE_COMPLEX_VECTORS, path);
    recovers_what_the_library_does(FIXTURE_COMPLEX_POLISHED, path);
    recovers_what_the_library_does(FIXTURE_COMPLEX_MEASUREMENTS, path);
    names_the_callers_place(path);
    serves_many_threads_and_tells_each_its_own_errors(path);
    refuses_what_is_wrong(path);
    refuses_a_damaged_file(path);
    remove(path);
    if (failures == 0) puts("the C interface holds");
    return failures == 0 ? 0 : 1;
}
