import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A checksum of standard input from a FileInputStream, which has no buffer. */
class Main {
    static long mix(long sum, int value) {
        sum ^= value;
        for (int round = 0; round < 40; round++) {
            sum = (sum ^ (sum >>> 29)) * 0x9E3779B97F4A7C15L;
        }
        return sum;
    }

    public static void main(String[] args) throws IOException {
        long sum = 0;
        try (InputStream input = new FileInputStream(FileDescriptor.in)) {
            for (int value = input.read(); value >= 0; value = input.read()) {
                sum = mix(sum, value);
            }
        }
        System.out.println(Long.toHexString(sum));
    }
}
