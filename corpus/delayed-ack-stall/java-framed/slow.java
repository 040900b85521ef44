import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Send 20 messages as length and body, by two writes, and await each reply. */
class Main {
    static void serve(ServerSocket listener) {
        try (Socket client = listener.accept()) {
            DataInputStream input = new DataInputStream(client.getInputStream());
            DataOutputStream output = new DataOutputStream(client.getOutputStream());
            while (true) {
                byte[] body = new byte[input.readInt()];
                input.readFully(body);
                output.writeLong(body.length + body[0]);
            }
        } catch (EOFException end) {
            return;
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    static long work(long value) {
        for (int round = 0; round < 2000000; round++) {
            value = (value ^ (value >>> 29)) * 0x9E3779B97F4A7C15L;
        }
        return value;
    }

    public static void main(String[] args) throws Exception {
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread server = new Thread(() -> serve(listener));
        server.start();
        byte[] body = new byte[100];
        long sum = 0;
        try (Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
            DataInputStream input = new DataInputStream(client.getInputStream());
            DataOutputStream output = new DataOutputStream(client.getOutputStream());
            for (int i = 0; i < 20; i++) {
                output.writeInt(body.length);
                output.write(body);
                output.flush();
                sum = work(sum + input.readLong());
                body[0] = (byte) sum;
            }
        }
        server.join();
        System.out.println(sum);
    }
}
