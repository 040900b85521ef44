import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.zip.CRC32;

/** Fetch 100 values from a server that takes 6 ms for a reply, one at a time. */
class Main {
    static final int VALUES = 100;

    static void serve(ServerSocket listener) {
        try (Socket client = listener.accept();
                BufferedReader requests = new BufferedReader(new InputStreamReader(client.getInputStream()));
                PrintWriter replies = new PrintWriter(client.getOutputStream(), true)) {
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                Thread.sleep(6);
                StringBuilder reply = new StringBuilder();
                for (String key : line.split(" ")) {
                    reply.append(Integer.parseInt(key) * 7).append(' ');
                }
                replies.println(reply);
            }
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    static long work(String value) {
        CRC32 sum = new CRC32();
        byte[] block = new byte[65536];
        block[0] = (byte) Integer.parseInt(value.strip());
        for (int round = 0; round < 100; round++) {
            sum.update(block);
        }
        return sum.getValue();
    }

    public static void main(String[] args) throws Exception {
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread server = new Thread(() -> serve(listener));
        server.start();
        long total = 0;
        try (Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
                BufferedReader replies = new BufferedReader(new InputStreamReader(client.getInputStream()));
                PrintWriter requests = new PrintWriter(client.getOutputStream(), true)) {
            for (int key = 0; key < VALUES; key++) {
                requests.println(key);
                total += work(replies.readLine());
            }
        }
        server.join();
        System.out.println(total);
    }
}
