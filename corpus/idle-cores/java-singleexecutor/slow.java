import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Sixteen jobs by an executor with one thread. */
class Main {
    static long work(long value) {
        for (int round = 0; round < 25000000; round++) {
            value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
        }
        return value;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        List<Future<Long>> results = new ArrayList<>();
        for (int i = 1; i <= 16; i++) {
            long job = i;
            results.add(pool.submit(() -> work(job)));
        }
        for (Future<Long> result : results) {
            System.out.println(Long.toHexString(result.get()));
        }
        pool.shutdown();
    }
}
