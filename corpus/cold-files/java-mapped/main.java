import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** Adds up one byte of each of 6,000 pages of a mapped file, in no order. */
class Main {
    public static void main(String[] args) throws Exception {
        try (FileChannel file = FileChannel.open(Path.of(args[0]))) {
            MappedByteBuffer bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
            int pages = (int) (file.size() / 4096);
            long place = 12345;
            long sum = 0;
            for (int i = 0; i < 6000; i++) {
                place = place * 6364136223846793005L + 1442695040888963407L;
                sum += bytes.get((int) ((place >>> 33) % pages) * 4096);
            }
            System.out.println(sum);
        }
    }
}
