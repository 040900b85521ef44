import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Waits until a job is done. */
class Main {
    static long work() {
        long sum = 0;
        for (long i = 0; i < 500000000L; i++) {
            sum += i ^ (sum >> 3);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Future<Long> result = pool.submit(Main::work);
        System.out.println(result.get());
        pool.shutdown();
    }
}
