import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Price cache that is asked now and then. With a period, a scheduled task
 * looks for stale prices whether or not anybody asked.
 *
 * usage: java Main QUERIES PERIOD_US (0: no task)
 */
class Main {
    static final double[] PRICES = new double[512];
    static final AtomicLong CHECKS = new AtomicLong();

    static void expireStalePrices() {
        long now = System.nanoTime();
        PRICES[(int) (now & 511)] += 0.01;
        CHECKS.incrementAndGet();
    }

    static double quote(int query) {
        double price = PRICES[query & 511];
        for (int i = 1; i < 200_000; i++) {
            price += Math.sqrt(i) / (1 + price % 7);
        }
        return price;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int queries = Integer.parseInt(arguments[0]);
        long periodUs = Long.parseLong(arguments[1]);
        ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
        if (periodUs > 0) {
            scheduler.scheduleAtFixedRate(Main::expireStalePrices, periodUs, periodUs, TimeUnit.MICROSECONDS);
        }
        double sum = 0;
        for (int query = 0; query < queries; query++) {
            Thread.sleep(40 + query * 31 % 73);
            sum += quote(query);
        }
        scheduler.shutdownNow();
        System.out.println("quoted " + (sum > 0));
    }
}
