import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Scores documents on two threads under a deadline. Usage: Main DOCUMENTS CHECK_EVERY */
public class Main {
    static final class Deadline {
        private final long end = System.nanoTime() + 3_600_000_000_000L;

        boolean passed() {
            return System.nanoTime() - end > 0;
        }
    }

    static long score(long document) {
        long words = document * 0x9E3779B97F4A7C15L;
        for (int i = 0; i < 12; i++) {
            words ^= words >>> 29;
            words *= 0xBF58476D1CE4E5B9L;
        }
        return words & 0xff;
    }

    static long scoreAll(long from, long to, int checkEvery) {
        Deadline deadline = new Deadline();
        long sum = 0;
        for (long document = from; document < to; document++) {
            sum += score(document);
            if (document % checkEvery == 0 && deadline.passed()) {
                break;
            }
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        long documents = Long.parseLong(arguments[0]);
        int checkEvery = Integer.parseInt(arguments[1]);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<Long> first = pool.submit(() -> scoreAll(0, documents / 2, checkEvery));
        Future<Long> second = pool.submit(() -> scoreAll(documents / 2, documents, checkEvery));
        System.out.println(first.get() + second.get());
        pool.shutdown();
    }
}
