import java.util.zip.CRC32;

/** The names of 200 paths by String.substring. */
class Main {
    static String basename(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    public static void main(String[] args) {
        byte[] block = new byte[65536];
        CRC32 sum = new CRC32();
        for (int i = 0; i < 200; i++) {
            sum.update(basename("/srv/data/" + i % 7 + "/file" + i + ".txt").getBytes());
            for (int round = 0; round < 40; round++) {
                sum.update(block);
            }
        }
        System.out.println(sum.getValue());
    }
}
