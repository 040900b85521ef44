// Runs 24 jobs in a pool that may grow to a thread for each CPU: which it does once its queue is full.
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

class Main {
    static long work(long value) {
        for (int i = 0; i < 20_000_000; i++) value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L + i;
        return value;
    }

    public static void main(String[] args) throws Exception {
        int cpus = Runtime.getRuntime().availableProcessors();
        var total = new AtomicLong();
        var pool = new ThreadPoolExecutor(1, cpus, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        for (int i = 0; i < 24; i++) {
            int seed = i;
            pool.execute(() -> total.addAndGet(work(seed)));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println(total);
    }
}
