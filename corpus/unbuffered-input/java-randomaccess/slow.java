import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;

/** The sum of the integers in a file; RandomAccessFile.readInt has no buffer. */
class Main {
    public static void main(String[] args) throws IOException {
        long sum = 0;
        try (RandomAccessFile file = new RandomAccessFile(args[0], "r")) {
            while (true) {
                sum = (sum ^ file.readInt()) * 0x9E3779B97F4A7C15L;
            }
        } catch (EOFException end) {
            System.out.println(Long.toHexString(sum));
        }
    }
}
