import java.io.BufferedWriter;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;

/** A log of lines, through a PrintWriter that flushes when its buffer is full. */
class Main {
    public static void main(String[] args) {
        int state = 1;
        try (PrintWriter output = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out)))) {
            for (int i = 0; i < 300000; i++) {
                state = state * 1664525 + 1013904223;
                output.println("item " + i + " has value " + state + " and state " + ((state & 1024) != 0 ? "ready" : "waiting"));
            }
        }
    }
}
