import java.nio.file.*;

class Main {
    public static void main(String[] args) throws Exception {
        long sum = 0;
        byte[] settings = Files.readAllBytes(Path.of(args[0]));
        for (int n = 0; n < 8000; n++) sum += settings[n];
        long other = 1;
        for (int i = 0; i < 100_000_000; i++) other = (other ^ (other >>> 29)) * 0x9E3779B97F4A7C15L + i;
        System.out.println(other == 7 ? 0 : sum);
    }
}
