import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A shop asks the stock service for the items of its orders. */
public class Main {
    private static int count(int item) {
        int left = item;
        for (int i = 0; i < 6000; i++) {
            left = left * 31 + i;
        }
        return left & 1023;
    }

    private static void serve(ServerSocket listener) {
        try (Socket shop = listener.accept()) {
            shop.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(shop.getInputStream());
            DataOutputStream out = new DataOutputStream(shop.getOutputStream());
            byte[] question = new byte[64 * 4];
            while (true) {
                int items = in.read();
                if (items < 0) {
                    return;
                }
                in.readFully(question, 0, items * 4);
                byte[] answer = new byte[items];
                for (int i = 0; i < items; i++) {
                    answer[i] = (byte) count(question[i * 4 + 3]);
                }
                out.write(answer);
            }
        } catch (IOException gone) {
            throw new IllegalStateException(gone);
        }
    }

    private static int ask(DataInputStream in, DataOutputStream out, int first, int items) throws IOException {
        byte[] question = new byte[1 + items * 4];
        question[0] = (byte) items;
        for (int i = 0; i < items; i++) {
            question[1 + i * 4 + 3] = (byte) (first + i);
        }
        out.write(question);
        byte[] answer = new byte[items];
        in.readFully(answer);
        int sum = 0;
        for (byte each : answer) {
            sum += each;
        }
        return sum;
    }

    public static void main(String[] arguments) throws IOException {
        int items = Integer.parseInt(arguments[0]);
        int together = Integer.parseInt(arguments[1]);
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread server = new Thread(() -> serve(listener));
        server.setDaemon(true);
        server.start();
        try (Socket stock = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
            stock.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(stock.getInputStream());
            DataOutputStream out = new DataOutputStream(stock.getOutputStream());
            int sum = 0;
            for (int first = 0; first < items; first += together) {
                sum += ask(in, out, first, together);
            }
            System.out.println(sum);
        }
    }
}
