import java.io.*;

class Main {
    public static void main(String[] args) throws IOException {
        try (var out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)))) {
            int value = 1;
            for (int i = 0; i < 250000; i++) {
                for (int k = 0; k < 200; k++) value = value * 1664525 + 1013904223;
                out.writeInt(value);
            }
        }
    }
}
