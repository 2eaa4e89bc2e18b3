import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Order pipeline: a worker prices orders and, when the carrier answers
 * "busy", asks again. The argument is how long it waits before that.
 *
 * usage: java Main ORDERS BACK_OFF_MS
 */
class Main {
    private final long backOffMs;

    Main(long backOffMs) {
        this.backOffMs = backOffMs;
    }

    long priceOrder(int order) {
        long price = order;
        for (int i = 0; i < 2_600_000; i++) {
            price = price * 6364136223846793005L + (price >>> 33) + i;
        }
        return price;
    }

    boolean carrierIsBusy(int order, int attempt) {
        return attempt == 0 && order % 4 == 0;
    }

    void backOff() throws InterruptedException {
        if (backOffMs > 0) {
            Thread.sleep(backOffMs);
        }
    }

    long ship(int order) throws InterruptedException {
        int attempt = 0;
        while (carrierIsBusy(order, attempt)) {
            backOff();
            attempt++;
        }
        return priceOrder(order);
    }

    public static void main(String[] arguments) throws Exception {
        int orders = Integer.parseInt(arguments[0]);
        Main pipeline = new Main(Long.parseLong(arguments[1]));
        ExecutorService worker = Executors.newSingleThreadExecutor();
        List<Future<Long>> shipped = new ArrayList<>();
        for (int i = 0; i < orders; i++) {
            int order = i;
            shipped.add(worker.submit(() -> pipeline.ship(order)));
        }
        long sum = 0;
        for (Future<Long> order : shipped) {
            sum += order.get();
        }
        worker.shutdown();
        System.out.println(sum);
    }
}
