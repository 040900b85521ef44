/** Threads hash numbers; the hashing is done inside a synchronized method. */
class Main {
    static final int JOBS = 6000;
    static long total;

    static long work(long value) {
        for (int round = 0; round < 40000; round++) {
            value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
        }
        return value;
    }

    static synchronized void add(int job) {
        total += work(job + 1);
    }

    public static void main(String[] args) throws InterruptedException {
        int count = 2 * Runtime.getRuntime().availableProcessors();
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int first = i;
            threads[i] = new Thread(() -> {
                for (int job = first; job < JOBS; job += count) {
                    add(job);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(Long.toHexString(total));
    }
}
