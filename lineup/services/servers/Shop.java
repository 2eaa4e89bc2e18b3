import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.*;
import java.util.concurrent.Executors;

/** A shop that answers requests over HTTP with a pool of threads: Shop PORT WORK. */
public class Shop {
    static final Object till = new Object();
    static long turnover;
    static Deque<Object> recent = new ArrayDeque<>();

    /** Books a sale; the whole reckoning is made with the till locked, or only the booking. */
    static long book(boolean all, int seed) {
        if (all) {
            synchronized (till) {
                turnover += reckon(seed);
                return turnover;
            }
        }
        long sum = reckon(seed);
        synchronized (till) {
            turnover += sum;
            return turnover;
        }
    }

    static long reckon(int seed) {
        long sum = seed;
        for (int i = 0; i < 400_000; i++) sum = sum * 31 + (i ^ sum >> 7);
        return sum;
    }

    /** Makes a receipt: a line an item, which is kept for a while. */
    static int receipt(int lines) {
        Map<String, int[]> table = new HashMap<>();
        for (int i = 0; i < lines; i++) table.put("item " + i, new int[] {i, i * 7});
        synchronized (recent) {
            recent.addLast(table);
            if (recent.size() > 200) recent.removeFirst();
        }
        return table.size();
    }

    public static void main(String[] words) throws Exception {
        String work = words[1];
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 0);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/", exchange -> {
            long sum = book(work.equals("locked"), exchange.hashCode());
            byte[] body = ("sum " + sum + " of " + receipt(work.equals("receipts") ? 2500 : 20) + "\n").getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
