import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;

/** Random numbers on one line, through a BufferedWriter. */
class Main {
    public static void main(String[] args) throws IOException {
        int state = 1;
        try (BufferedWriter output = new BufferedWriter(new OutputStreamWriter(System.out))) {
            for (int i = 0; i < 400000; i++) {
                state = state * 1664525 + 1013904223;
                output.write(Integer.toString(state >>> 20));
                output.write(' ');
            }
            output.newLine();
        }
    }
}
