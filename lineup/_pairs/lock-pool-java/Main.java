import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/** Web workers that share a pool of connections to a small database. */
public class Main {
    static final class Database extends Thread {
        private final ServerSocket listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());

        Database() throws IOException {
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    Socket connection = listener.accept();
                    connection.setTcpNoDelay(true);
                    Thread session = new Thread(() -> answer(connection), "session");
                    session.setDaemon(true);
                    session.start();
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        private void answer(Socket connection) {
            try (connection) {
                DataInputStream in = new DataInputStream(connection.getInputStream());
                DataOutputStream out = new DataOutputStream(connection.getOutputStream());
                while (true) {
                    long key = in.readLong();
                    Thread.sleep(3); // the disk
                    out.writeLong(key * 31 + 7);
                }
            } catch (IOException | InterruptedException e) {
                // the client has gone
            }
        }
    }

    static final class Connection {
        private final DataInputStream in;
        private final DataOutputStream out;

        Connection(int port) throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            in = new DataInputStream(socket.getInputStream());
            out = new DataOutputStream(socket.getOutputStream());
        }

        long query(long key) throws IOException {
            out.writeLong(key);
            return in.readLong();
        }
    }

    static final class Pool {
        private final Semaphore free;
        private final ArrayDeque<Connection> idle = new ArrayDeque<>();

        Pool(int size, int port) throws IOException {
            free = new Semaphore(size);
            for (int i = 0; i < size; i++) {
                idle.add(new Connection(port));
            }
        }

        Connection borrow() throws InterruptedException {
            free.acquire();
            synchronized (idle) {
                return idle.pop();
            }
        }

        void giveBack(Connection connection) {
            synchronized (idle) {
                idle.push(connection);
            }
            free.release();
        }
    }

    static long renderPage(Pool pool, int page) throws IOException, InterruptedException {
        Connection connection = pool.borrow();
        long value;
        try {
            value = connection.query(page);
        } finally {
            pool.giveBack(connection);
        }
        StringBuilder html = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            html.append("<td>").append(value + i).append("</td>");
        }
        return html.toString().hashCode();
    }

    public static void main(String[] arguments) throws Exception {
        int workers = Integer.parseInt(arguments[0]);
        int pages = Integer.parseInt(arguments[2]);
        Database database = new Database();
        database.start();
        Pool pool = new Pool(Integer.parseInt(arguments[1]), database.listener.getLocalPort());
        AtomicLong sum = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int worker = 0; worker < workers; worker++) {
            int first = worker;
            Thread thread = new Thread(() -> {
                try {
                    for (int page = first; page < pages; page += workers) {
                        sum.addAndGet(renderPage(pool, page));
                    }
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "worker-" + worker);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(sum);
    }
}
