#include <pibinn/c_api.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(void) {
    fprintf(stderr, "%s\n", pibinn_last_error());
    return 1;
}

int main(int count, char** words) {
    pibinn_model* model;
    pibinn_workspace* workspace;
    if (pibinn_load(count > 1 ? words[1] : "model.safetensors", &model) != PIBINN_OK)
        return failed();
    if (pibinn_workspace_new(model, &workspace) != PIBINN_OK) return failed();
    const size_t m = pibinn_measurements(model), n = pibinn_entries(model);
    float* y = calloc(m, sizeof *y); /* a measurement as it came in */
    float* x = malloc(n * sizeof *x);

    if (pibinn_recover_in(model, workspace, y, 1, x) != PIBINN_OK) return failed();
    printf("%zu entries from %zu measurements\n", n, m);

    free(x);
    free(y);
    pibinn_workspace_free(workspace);
    pibinn_free(model);
    return 0;
}
