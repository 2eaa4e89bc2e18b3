import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/** Two tellers count coins by kind, in a register of their own each or in one: Main COINS REGISTERS. */
public class Main {
    /** What a teller counts in. */
    static class Register {
        final ReentrantLock lock = new ReentrantLock();
        final Map<Integer, int[]> coins = new HashMap<>();

        void add(int kind) {
            lock.lock();
            try {
                coins.computeIfAbsent(kind, k -> new int[1])[0]++;
            } finally {
                lock.unlock();
            }
        }
    }

    static void countCoins(Register register, int[] kinds, int rounds) {
        for (int round = 0; round < rounds; round++)
            for (int kind : kinds) register.add(kind);
    }

    public static void main(String[] words) throws Exception {
        int rounds = Integer.parseInt(words[0]);
        Register[] registers = new Register[Integer.parseInt(words[1])];
        for (int i = 0; i < registers.length; i++) registers[i] = new Register();
        Thread[] tellers = new Thread[2];
        for (int t = 0; t < tellers.length; t++) {
            Register register = registers[t % registers.length];
            int[] kinds = new Random(t).ints(10_000, 0, 500).toArray();
            tellers[t] = new Thread(() -> countCoins(register, kinds, rounds), "teller-" + t);
            tellers[t].start();
        }
        for (Thread teller : tellers) teller.join();
    }
}
