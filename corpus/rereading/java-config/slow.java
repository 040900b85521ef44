import java.nio.file.*;

class Main {
    public static void main(String[] args) throws Exception {
        long sum = 0;
        for (int n = 0; n < 8000; n++) {
            byte[] settings = Files.readAllBytes(Path.of(args[0]));
            sum += settings[n];
        }
        System.out.println(sum);
    }
}
