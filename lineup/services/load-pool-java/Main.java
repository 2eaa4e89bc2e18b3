import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** Main PORT CONNECTIONS: a shop whose requests ask a store over a pool of connections. */
public class Main {
    static final BlockingQueue<Socket> pool = new LinkedBlockingQueue<>();

    public static void main(String[] args) throws IOException {
        ServerSocket store = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(() -> take(store));
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            pool.add(quick(new Socket(store.getInetAddress(), store.getLocalPort())));
        }
        HttpServer shop = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 50);
        shop.setExecutor(Executors.newFixedThreadPool(16));
        shop.createContext("/", exchange -> {
            byte[] page = ("item " + query()).getBytes();
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        shop.start();
    }

    static int query() throws IOException {
        try {
            Socket connection = pool.take();
            try {
                connection.getOutputStream().write('?');
                return connection.getInputStream().read();
            } finally {
                pool.add(connection);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    static void take(ServerSocket store) {
        while (true) {
            try {
                Socket connection = quick(store.accept());
                daemon(() -> answer(connection));
            } catch (IOException e) {
                return;
            }
        }
    }

    static void answer(Socket connection) {
        try {
            while (connection.getInputStream().read() >= 0) {
                Thread.sleep(2);
                connection.getOutputStream().write('!');
            }
        } catch (IOException | InterruptedException e) {
            return;
        }
    }

    static Socket quick(Socket connection) throws IOException {
        connection.setTcpNoDelay(true);
        return connection;
    }

    static void daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }
}
