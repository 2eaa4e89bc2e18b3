import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A small store that does with the time what Cassandra does: each row gets a time stamp, is held against the time to
 * live of what it replaces, and is timed on its way through the commit log and the table.
 *
 * A request is a batch: the number of rows (4 bytes), then for each its key and value (8 bytes each); the answer is the
 * number of rows that replaced one which still lived. Each connection has a thread.
 *
 * Usage: Store PORT COMMIT-LOG
 */
public class Store {
    private static final int ROW = 24, MOST_ROWS = 1000;
    private static final long TIME_TO_LIVE = 60_000;
    private static final long LOG_BYTES = 1 << 20;

    record Cell(long stamp, long expires, long value, long checksum) {}

    private final ConcurrentHashMap<Long, Cell> table = new ConcurrentHashMap<>();
    private final LongAdder requests = new LongAdder(), requestTime = new LongAdder(), tableTime = new LongAdder(),
        logTime = new LongAdder();
    private final AtomicLong logged = new AtomicLong();
    private final FileChannel log;

    Store(String path) throws IOException {
        log = FileChannel.open(Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    /** One connection: its requests one after the other. */
    void serve(Socket connection) {
        try (connection) {
            connection.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(new BufferedInputStream(connection.getInputStream(), 4096));
            OutputStream out = connection.getOutputStream();
            ByteBuffer entry = ByteBuffer.allocateDirect(MOST_ROWS * ROW), answer = ByteBuffer.allocate(4);
            while (true) {
                int rows = in.readInt();
                if (rows < 0 || rows > MOST_ROWS) {
                    throw new IOException("a batch of " + rows + " rows");
                }
                long began = System.nanoTime();
                int replaced = 0;
                entry.clear();
                for (int i = 0; i < rows; i++) {
                    replaced += put(in.readLong(), in.readLong(), entry);
                }
                append(entry.flip());
                out.write(answer.clear().putInt(replaced).array());
                requestTime.add(System.nanoTime() - began);
                requests.increment();
            }
        } catch (IOException gone) {
            return; // the client closed the connection
        }
    }

    /** Takes one row in: 1 where it replaced one that still lived. */
    int put(long key, long value, ByteBuffer entry) {
        long began = System.nanoTime(), stamp = stamp();
        Cell cell = new Cell(stamp, stamp + TIME_TO_LIVE, value, checksum(key, value));
        entry.putLong(key).putLong(cell.stamp).putLong(cell.checksum);
        Cell before = table.put(key & 0xffff, cell);
        tableTime.add(System.nanoTime() - began);
        return before != null && lives(before) ? 1 : 0;
    }

    static long stamp() {
        return System.currentTimeMillis();
    }

    static boolean lives(Cell cell) {
        return cell.expires > System.currentTimeMillis();
    }

    static long checksum(long key, long value) {
        long sum = key;
        for (int i = 0; i < 8; i++) {
            sum = (sum ^ (value >>> 8 * i & 0xff)) * 0x100000001b3L;
        }
        return sum;
    }

    /** Writes the rows of a batch to the commit log, which begins again when it is full. */
    void append(ByteBuffer entry) throws IOException {
        long began = System.nanoTime();
        log.write(entry, logged.getAndAdd(entry.remaining()) % LOG_BYTES);
        logTime.add(System.nanoTime() - began);
    }

    public static void main(String[] words) throws IOException {
        Store store = new Store(words[1]);
        try (ServerSocket socket = new ServerSocket(Integer.parseInt(words[0]))) {
            while (true) {
                Socket connection = socket.accept();
                new Thread(() -> store.serve(connection), "request").start();
            }
        }
    }
}
