/** Threads hash numbers; only the sums are added in a synchronized method. */
class Main {
    static final int JOBS = 6000;
    static long total;

    static long work(long value) {
        for (int round = 0; round < 40000; round++) {
            value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
        }
        return value;
    }

    static synchronized void add(long sum) {
        total += sum;
    }

    public static void main(String[] args) throws InterruptedException {
        int count = Runtime.getRuntime().availableProcessors();
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int first = i;
            threads[i] = new Thread(() -> {
                long sum = 0;
                for (int job = first; job < JOBS; job += count) {
                    sum += work(job + 1);
                }
                add(sum);
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(Long.toHexString(total));
    }
}
