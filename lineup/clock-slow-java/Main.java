import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Drops the entries of a cache that are older than they may be. Usage: Main LOOKUPS */
public class Main {
    private static final int ENTRIES = 1024;

    private final long[] storedAt = new long[ENTRIES];
    private final long[] values = new long[ENTRIES];

    long lookUp(long key) {
        int slot = (int) (key & (ENTRIES - 1));
        long now = System.currentTimeMillis();
        if (now - storedAt[slot] > 50) {
            storedAt[slot] = now;
            values[slot] = key * 0x9E3779B97F4A7C15L;
        }
        return values[slot];
    }

    static long serve(long lookups) {
        Main cache = new Main();
        long sum = 0;
        for (long i = 0; i < lookups; i++) {
            sum += cache.lookUp(i * 7) >>> 60;
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        long lookups = Long.parseLong(arguments[0]);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<Long> first = pool.submit(() -> serve(lookups));
        Future<Long> second = pool.submit(() -> serve(lookups));
        System.out.println(first.get() > 0 && second.get() > 0);
        pool.shutdown();
    }
}
