// Parallel loops with almost no work and more threads than CPUs (OMP_NUM_THREADS=8): the threads wait for
// each other at barriers.
int main(void) {
  static volatile double values[4096];
  for (int step = 0; step < 400; step++) {
#pragma omp parallel for
    for (int i = 0; i < 4096; i++) values[i] += 1;
  }
  return 0;
}
