class Main {
    static long total = 1;

    public static void main(String[] args) throws Exception {
        for (int step = 0; step < 30; step++)
            for (int i = 0; i < 3_000_000; i++) total = (total ^ (total >>> 29)) * 0x9E3779B97F4A7C15L + i;
        System.out.println(total);
    }
}
