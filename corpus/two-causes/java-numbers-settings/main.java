import java.io.*;
import java.nio.file.*;

/** Writes 400,000 numbers to a file; before each 50th the settings are read again. */
class Main {
    public static void main(String[] args) throws IOException {
        OutputStream file = new FileOutputStream("numbers");
        if (System.getenv("FIRST") == null) file = new BufferedOutputStream(file);
        boolean reads = System.getenv("SECOND") != null;
        byte[] settings = Files.readAllBytes(Path.of(args[0]));
        int value = 1;
        try (var out = new DataOutputStream(file)) {
            for (int i = 0; i < 400000; i++) {
                if (reads && i % 50 == 0) settings = Files.readAllBytes(Path.of(args[0]));
                for (int k = 0; k < 250; k++) value = value * 1664525 + settings[i % settings.length];
                out.writeInt(value);
            }
        }
        System.out.println(value);
    }
}
