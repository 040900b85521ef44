import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Random;
import java.util.zip.CRC32;

/** Checksums of 4000 random blocks of a file. */
class Main {
    public static void main(String[] args) throws IOException {
        byte[] block = new byte[4096];
        CRC32 sum = new CRC32();
        Random random = new Random(1);
        try (RandomAccessFile file = new RandomAccessFile(args[0], "r")) {
            int blocks = (int) (file.length() / block.length);
            for (int i = 0; i < 4000; i++) {
                file.seek((long) random.nextInt(blocks) * block.length);
                file.readFully(block);
                for (int round = 0; round < 12; round++) {
                    sum.update(block);
                }
            }
        }
        System.out.println(sum.getValue());
    }
}
