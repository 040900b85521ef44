import java.io.*;

/** Hashes standard input, and sleeps 5 ms after each 20,000 bytes. */
class Main {
    public static void main(String[] args) throws Exception {
        InputStream input = new FileInputStream(FileDescriptor.in);
        if (System.getenv("FIRST") == null) input = new BufferedInputStream(input);
        boolean sleeps = System.getenv("SECOND") != null;
        long sum = 0;
        int letter;
        for (int at = 1; (letter = input.read()) >= 0; at++) {
            for (int round = 0; round < 60; round++) sum = (sum ^ letter ^ (sum >>> 29)) * 0x9E3779B97F4A7C15L;
            if (sleeps && at % 20000 == 0) Thread.sleep(5);
        }
        System.out.println(sum);
    }
}
