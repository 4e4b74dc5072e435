/* A driver of CUDA that fails as real ones do. It is built as libcuda.so.1 and found first.
 *
 * DRIVER_FAULT=old    a driver of CUDA 11
 * DRIVER_FAULT=none   a driver without a device
 */
#include <stdlib.h>
#include <string.h>

enum { success = 0, no_device = 100, not_found = 500 };

int cuDriverGetVersion(int* version) {
    const char* fault = getenv("DRIVER_FAULT");
    *version = fault != NULL && strcmp(fault, "old") == 0 ? 11000 : 13000;
    return success;
}

int cuInit(unsigned flags) {
    (void)flags;
    return no_device;
}

/* What the runtime asks for every other function by. */
int cuGetProcAddress_v2(const char* name, void** pointer, int version, unsigned long long flags,
                        int* status) {
    (void)version;
    (void)flags;
    *pointer = NULL;
    if (strcmp(name, "cuDriverGetVersion") == 0) *pointer = cuDriverGetVersion;
    if (strcmp(name, "cuInit") == 0) *pointer = cuInit;
    if (strcmp(name, "cuGetProcAddress") == 0) *pointer = cuGetProcAddress_v2;
    if (status != NULL) *status = *pointer != NULL ? 0 : 1;
    return *pointer != NULL ? success : not_found;
}

int cuGetProcAddress(const char* name, void** pointer, int version, unsigned long long flags) {
    return cuGetProcAddress_v2(name, pointer, version, flags, NULL);
}

int cuGetExportTable(const void** table, const void* id) {
    (void)table;
    (void)id;
    return not_found;
}
