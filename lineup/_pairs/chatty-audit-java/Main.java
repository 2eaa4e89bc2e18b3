import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A booking engine with an audit trail. */
public class Main {
    static final class Trail implements AutoCloseable {
        private final BufferedWriter writer;
        private final int interval;
        private int pending;

        Trail(Path path, int interval) throws IOException {
            this.writer = Files.newBufferedWriter(path, StandardCharsets.UTF_8);
            this.interval = interval;
        }

        void note(String action, long account, long amount) throws IOException {
            writer.write(action);
            writer.write(' ');
            writer.write(Long.toString(account));
            writer.write(' ');
            writer.write(Long.toString(amount));
            writer.newLine();
            if (++pending >= interval) {
                writer.flush();
                pending = 0;
            }
        }

        @Override
        public void close() throws IOException {
            writer.close();
        }
    }

    static long book(long[] accounts, int number) {
        int from = (int) (number * 2654435761L % accounts.length);
        int to = (int) (number * 40503L % accounts.length);
        long amount = number % 977 + 1;
        for (int fee = 0; fee < 120; fee++) {
            amount = amount * 31 % 100003 + fee;
        }
        accounts[from] -= amount;
        accounts[to] += amount;
        return amount;
    }

    public static void main(String[] arguments) throws IOException {
        long[] accounts = new long[50000];
        int bookings = Integer.parseInt(arguments[1]);
        try (Trail trail = new Trail(Path.of(arguments[0]), Integer.parseInt(arguments[2]))) {
            for (int i = 0; i < bookings; i++) {
                trail.note("booked", i % accounts.length, book(accounts, i));
            }
        }
        System.out.println(accounts[7]);
    }
}
