class Main {
    public static void main(String[] args) {
        long sum = 0;
        long[] one = new long[500_000];
        for (int round = 0; round < 40; round++)
            for (int n = 0; n < 100; n++)
                for (int i = 0; i < 500_000; i += 64) {
                    one[i] = i * n;
                    if (round == 0) sum += one[i];
                }
        System.out.println(sum);
    }
}
