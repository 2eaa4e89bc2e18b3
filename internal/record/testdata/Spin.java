import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Spins for so many seconds: two methods, three to one by CPU time. Prints the CPU seconds of each. */
public class Spin {
    static long work;

    static void inner(int rounds) {
        long sum = work;
        for (int i = 0; i < rounds; i++) {
            sum = sum * 31 + (i ^ sum >>> 7);
        }
        work = sum;
    }

    static void spinMuch(int rounds) {
        for (int i = 0; i < 3; i++) {
            inner(rounds);
        }
    }

    static void spinLittle(int rounds) {
        inner(rounds);
        work++;
    }

    public static void main(String[] words) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long much = 0;
        long little = 0;
        long end = System.nanoTime() + (long) (Double.parseDouble(words[0]) * 1e9);
        while (System.nanoTime() < end) {
            long start = threads.getCurrentThreadCpuTime();
            spinMuch(400000);
            long next = threads.getCurrentThreadCpuTime();
            spinLittle(400000);
            much += next - start;
            little += threads.getCurrentThreadCpuTime() - next;
        }
        System.out.printf("spin_much %.6f%nspin_little %.6f%n", much / 1e9, little / 1e9);
    }
}
