import java.util.concurrent.locks.ReentrantLock;

class Main {
    static final ReentrantLock lock = new ReentrantLock();
    static long total;

    static long compute(long seed) {
        long value = seed;
        for (int i = 0; i < 1_000_000; i++) value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L + i;
        return value;
    }

    public static void main(String[] args) throws InterruptedException {
        var threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < 200; i++) {
                    long value = compute(i % 100);
                    lock.lock();
                    try {
                        total += value;
                    } finally {
                        lock.unlock();
                    }
                }
            });
            threads[t].start();
        }
        for (var thread : threads) thread.join();
        System.out.println(total);
    }
}
