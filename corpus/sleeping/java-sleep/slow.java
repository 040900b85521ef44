/** Work in 40 steps, with a pause after each. */
class Main {
    public static void main(String[] args) throws InterruptedException {
        long value = 1;
        for (int step = 0; step < 40; step++) {
            for (int round = 0; round < 1000000; round++) {
                value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
            }
            Thread.sleep(20);
        }
        System.out.println(Long.toHexString(value));
    }
}
