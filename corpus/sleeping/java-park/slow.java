import java.util.concurrent.*;

class Main {
    static long total = 1;
    static int steps;

    public static void main(String[] args) throws Exception {
        var timer = Executors.newSingleThreadScheduledExecutor();
        var done = new CountDownLatch(30);
        timer.scheduleWithFixedDelay(() -> {
            for (int i = 0; i < 3_000_000; i++) total = (total ^ (total >>> 29)) * 0x9E3779B97F4A7C15L + i;
            if (++steps <= 30) done.countDown();
            if (steps == 30) throw new CancellationException();
        }, 0, 15, TimeUnit.MILLISECONDS);
        done.await();
        timer.shutdownNow();
        System.out.println(total);
    }
}
