import java.util.zip.CRC32;

/** The names of 200 paths by basename(1). */
class Main {
    static String basename(String path) throws Exception {
        Process child = new ProcessBuilder("basename", path).start();
        String name = new String(child.getInputStream().readAllBytes()).strip();
        child.waitFor();
        return name;
    }

    public static void main(String[] args) throws Exception {
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
