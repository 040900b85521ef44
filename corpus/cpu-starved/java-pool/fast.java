import java.util.concurrent.*;

class Main {
    public static void main(String[] args) throws Exception {
        var pool = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        var all = new java.util.ArrayList<Future<Long>>();
        for (int t = 0; t < 40; t++) {
            final long seed = t;
            all.add(pool.submit(() -> {
                long value = seed;
                for (int i = 0; i < 15_000_000; i++) value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L + i;
                return value;
            }));
        }
        long sum = 0;
        for (var one : all) sum ^= one.get();
        pool.shutdown();
        System.out.println(sum);
    }
}
