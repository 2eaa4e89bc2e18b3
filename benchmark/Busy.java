import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Instant;

/**
 * Two busy threads, as prepareSpin in worker.go: a line for each stretch, "start end CPU-ns-per-thousand-steps",
 * until the input ends.
 */
public class Busy {
    static final int COUNT = 30_000; // thousand steps a stretch

    public static void main(String[] arguments) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Thread end = new Thread(() -> {
            try {
                while (System.in.read() >= 0) { }
            } catch (java.io.IOException e) {
                // the owner is gone: as its end
            }
            Runtime.getRuntime().halt(0);
        });
        end.setDaemon(true);
        end.start();
        Object turn = new Object();
        long[] asked = {0}, done = {0}, cpu = {0};
        Thread other = new Thread(() -> {
            for (long next = 1;; next++) {
                synchronized (turn) {
                    while (asked[0] < next) await(turn);
                }
                long sum = compute();
                synchronized (turn) {
                    cpu[0] = threads.getCurrentThreadCpuTime();
                    done[0] = sum == 0 ? -1 : next;
                    turn.notifyAll();
                }
            }
        });
        other.setDaemon(true);
        other.start();
        long before = 0;
        for (long next = 1;; next++) {
            long start = now();
            synchronized (turn) {
                asked[0] = next;
                turn.notifyAll();
            }
            compute();
            long used;
            synchronized (turn) {
                while (done[0] != next) await(turn);
                used = cpu[0] + threads.getCurrentThreadCpuTime();
            }
            System.out.println(start + " " + now() + " " + (used - before) / (double) COUNT);
            before = used;
        }
    }

    static void await(Object turn) {
        try {
            turn.wait();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static long compute() {
        long sum = 88172645463325252L;
        for (int i = 0; i < COUNT * 1000; i++) {
            sum ^= sum << 13;
            sum ^= sum >>> 7;
            sum ^= sum << 17;
        }
        return sum;
    }

    static long now() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }
}
