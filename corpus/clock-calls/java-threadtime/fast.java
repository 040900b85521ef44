import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Work on items; the thread's CPU time, which is a system call, is read for one in 10000. */
class Main {
    static final int EVERY = 10000;

    public static void main(String[] args) {
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long value = 1;
        long busy = 0;
        for (int item = 0; item < 800000; item++) {
            for (int round = 0; round < 40; round++) {
                value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
            }
            if (item % EVERY == 0) {
                busy = Math.max(busy, clock.getCurrentThreadCpuTime());
            }
        }
        System.out.println(Long.toHexString(value) + (busy > 0));
    }
}
