import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** A thread and its partner hand 30000 numbers over and back, a thousand at a time. */
class Main {
    static final int NUMBERS = 30000;
    static final int BATCH = 1000;

    static long work(long value) {
        for (int round = 0; round < 1500; round++) {
            value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
        }
        return value;
    }

    static void answer(BlockingQueue<long[]> over, BlockingQueue<long[]> back) {
        try {
            for (int first = 0; first < NUMBERS; first += BATCH) {
                long[] batch = over.take();
                for (int i = 0; i < BATCH; i++) {
                    batch[i] = work(batch[i]);
                }
                back.put(batch);
            }
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<long[]> over = new ArrayBlockingQueue<>(1);
        BlockingQueue<long[]> back = new ArrayBlockingQueue<>(1);
        Thread partner = new Thread(() -> answer(over, back));
        partner.start();
        long sum = 0;
        for (int first = 0; first < NUMBERS; first += BATCH) {
            long[] batch = new long[BATCH];
            for (int i = 0; i < BATCH; i++) {
                batch[i] = first + i + 1;
            }
            over.put(batch);
            for (long value : back.take()) {
                sum += value;
            }
        }
        partner.join();
        System.out.println(Long.toHexString(sum));
    }
}
