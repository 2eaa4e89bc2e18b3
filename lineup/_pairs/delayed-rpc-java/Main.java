import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/** A remote store: calls go over one connection, a head and then what belongs to it. */
public class Main {
    static byte[] readExactly(InputStream in, int length) throws IOException {
        return new DataInputStream(in).readNBytes(length);
    }

    static void serve(ServerSocket listener) {
        try (Socket connection = listener.accept()) {
            connection.setTcpNoDelay(true);
            InputStream in = connection.getInputStream();
            OutputStream out = connection.getOutputStream();
            while (true) {
                byte[] head = readExactly(in, 4);
                if (head.length < 4) {
                    return;
                }
                CRC32 sum = new CRC32();
                sum.update(readExactly(in, ByteBuffer.wrap(head).getInt()));
                out.write(ByteBuffer.allocate(8).putLong(sum.getValue()).array());
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static byte[] prepare(int number) {
        byte[] body = new byte[700];
        long seed = number;
        for (int round = 0; round < 14000; round++) {
            for (int i = 0; i < body.length; i++) {
                seed = seed * 6364136223846793005L + 1442695040888963407L;
                body[i] ^= (byte) (seed >> 56);
            }
        }
        return body;
    }

    static long call(Socket connection, byte[] body) throws IOException {
        OutputStream out = connection.getOutputStream();
        out.write(ByteBuffer.allocate(4).putInt(body.length).array());
        out.write(body);
        return ByteBuffer.wrap(readExactly(connection.getInputStream(), 8)).getLong();
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread server = new Thread(() -> serve(listener), "store");
        server.setDaemon(true);
        server.start();
        long sum = 0;
        try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort())) {
            connection.setTcpNoDelay(arguments[1].equals("direct"));
            for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
                sum += call(connection, prepare(i));
            }
        }
        System.out.println(sum);
    }
}
