import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;

/** The sum of the integers in a file, through a BufferedInputStream. */
class Main {
    public static void main(String[] args) throws IOException {
        long sum = 0;
        try (DataInputStream file = new DataInputStream(new BufferedInputStream(new FileInputStream(args[0])))) {
            while (true) {
                sum = (sum ^ file.readInt()) * 0x9E3779B97F4A7C15L;
            }
        } catch (EOFException end) {
            System.out.println(Long.toHexString(sum));
        }
    }
}
