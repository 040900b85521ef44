class Main {
    public static void main(String[] args) {
        var all = new long[100][];
        long sum = 0;
        for (int n = 0; n < all.length; n++) {
            all[n] = new long[500_000];
            for (int i = 0; i < 500_000; i += 64) all[n][i] = i * n;
        }
        for (long[] one : all) for (int i = 0; i < 500_000; i += 64) sum += one[i];
        System.out.println(sum);
    }
}
