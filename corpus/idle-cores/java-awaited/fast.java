import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Three hundred jobs by an executor of four threads, which are all given before the first result is awaited. */
class Main {
    static long work(long value) {
        for (int round = 0; round < 1500000; round++) {
            value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
        }
        return value;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        long sum = 0;
        List<Future<Long>> results = new ArrayList<>();
        for (int i = 1; i <= 300; i++) {
            long job = i;
            results.add(pool.submit(() -> work(job)));
        }
        for (Future<Long> result : results) {
            sum ^= result.get();
        }
        System.out.println(Long.toHexString(sum));
        pool.shutdown();
    }
}
