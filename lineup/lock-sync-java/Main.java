import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/** Two readers index words, in a table of their own each or in one that Collections made safe: Main ROUNDS TABLES. */
public class Main {
    static void indexWords(Map<Integer, Integer> index, int[] words, int rounds) {
        for (int round = 0; round < rounds; round++)
            for (int word : words) index.merge(word, 1, (a, b) -> a + b & 127);
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]), tables = Integer.parseInt(args[1]);
        @SuppressWarnings("unchecked")
        Map<Integer, Integer>[] indexes = new Map[tables];
        for (int i = 0; i < tables; i++) indexes[i] = Collections.synchronizedMap(new HashMap<>());
        Thread[] readers = new Thread[2];
        for (int t = 0; t < readers.length; t++) {
            Map<Integer, Integer> index = indexes[t % tables];
            int[] words = new Random(t).ints(10_000, 0, 500).toArray();
            readers[t] = new Thread(() -> indexWords(index, words, rounds), "reader-" + t);
            readers[t].start();
        }
        for (Thread reader : readers) reader.join();
    }
}
