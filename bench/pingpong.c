/* The time of a message between two ranks, for the model of docs/cluster.md. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double one_way(int rank, char* buffer, int bytes, int rounds) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
        if (rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        if (rank < 2)
            MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int bytes = 64; bytes <= 1 << 24; bytes *= 64) {
        char* buffer = calloc((size_t)bytes, 1);
        const int rounds = bytes <= 4096 ? 10000 : bytes <= 1 << 18 ? 500 : 30;
        one_way(rank, buffer, bytes, rounds / 10 + 1);
        const double seconds = one_way(rank, buffer, bytes, rounds);
        if (rank == 0)
            printf("%d bytes  %.2f us  %.2f GB/s\n", bytes, 1e6 * seconds, 1e-9 * bytes / seconds);
        free(buffer);
    }
    MPI_Finalize();
    return 0;
}
