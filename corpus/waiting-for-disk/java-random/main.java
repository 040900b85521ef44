import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Random;
import java.util.zip.CRC32;

/** Checksums of 1500 random blocks of a file. */
class Main {
    public static void main(String[] args) throws IOException {
        byte[] block = new byte[4096];
        CRC32 sum = new CRC32();
        Random random = new Random(1);
        try (RandomAccessFile file = new RandomAccessFile(args[0], "r")) {
            int blocks = (int) (file.length() / block.length);
            for (int i = 0; i < 1500; i++) {
                file.seek((long) random.nextInt(blocks) * block.length);
                file.readFully(block);
                for (int round = 0; round < 40; round++) {
                    sum.update(block);
                }
            }
        }
        System.out.println(sum.getValue());
    }
}
