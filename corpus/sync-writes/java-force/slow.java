import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;

class Main {
    public static void main(String[] args) throws Exception {
        long value = 1;
        try (var file = FileChannel.open(Path.of("journal"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            var record = ByteBuffer.allocate(128);
            for (int n = 0; n < 600; n++) {
                for (int i = 0; i < 200_000; i++) value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L + i;
                record.clear();
                record.putLong(0, value);
                file.write(record);
                file.force(false);
            }
        }
        System.out.println(value);
    }
}
