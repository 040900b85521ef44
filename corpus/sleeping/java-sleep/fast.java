/** Work in 40 steps, without a pause. */
class Main {
    public static void main(String[] args) {
        long value = 1;
        for (int step = 0; step < 40; step++) {
            for (int round = 0; round < 1000000; round++) {
                value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
            }
        }
        System.out.println(Long.toHexString(value));
    }
}
