import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Encodes pictures on one thread and packs them on another. Usage: Main PICTURES PACKING_ROUNDS */
public class Main {
    static long encode(long picture) {
        long state = picture + 1;
        for (int i = 0; i < 60_000; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
        }
        return state >>> 3;
    }

    static long pack(long encoded, int rounds) {
        long state = encoded;
        for (int i = 0; i < rounds * 1000; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
        }
        return state & 0xff;
    }

    public static void main(String[] arguments) throws Exception {
        int pictures = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
        BlockingQueue<Long> ready = new ArrayBlockingQueue<>(2);
        Thread encoder = new Thread(() -> {
            try {
                for (int picture = 0; picture < pictures; picture++) {
                    ready.put(encode(picture));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "encoder");
        encoder.start();
        long sum = 0;
        for (int picture = 0; picture < pictures; picture++) {
            sum += pack(ready.take(), rounds);
        }
        encoder.join();
        System.out.println(sum);
    }
}
