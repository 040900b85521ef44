import java.io.*;

class Main {
    public static void main(String[] args) throws IOException {
        var in = new DataInputStream(new FileInputStream(FileDescriptor.in));
        long sum = 0;
        try {
            while (true) {
                int value = in.readInt();
                for (int i = 0; i < 100; i++) sum = sum * 31 + (value ^ i);
            }
        } catch (EOFException end) {
            System.out.println(sum);
        }
    }
}
