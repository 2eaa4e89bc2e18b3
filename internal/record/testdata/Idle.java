/** Goes on until it is killed: one thread spins for a tenth of the time, one waits, one sleeps. */
public class Idle {
    static volatile long work;

    static void spinAWhile() throws InterruptedException {
        for (long end = System.nanoTime() + 10_000_000; System.nanoTime() < end; ) {
            work++;
        }
        Thread.sleep(90);
    }

    static void waitForEver() throws InterruptedException {
        synchronized (Idle.class) {
            Idle.class.wait();
        }
    }

    interface Job {
        void run() throws InterruptedException;
    }

    static void start(String name, Job job) {
        new Thread(() -> {
            try {
                while (true) {
                    job.run();
                }
            } catch (InterruptedException e) {
                System.exit(1);
            }
        }, name).start();
    }

    public static void main(String[] words) {
        start("spinner", Idle::spinAWhile);
        start("waiter", Idle::waitForEver);
        start("sleeper", () -> Thread.sleep(3_600_000));
        System.out.println("ready");
    }
}
