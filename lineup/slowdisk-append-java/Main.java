import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;

/** Books payments into a ledger; each is safe before it is acknowledged. */
public class Main {
    private final FileChannel ledger;
    private long booked;

    Main(Path file) throws IOException {
        ledger = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE);
    }

    static long check(byte[] payment) {
        CRC32 sum = new CRC32();
        for (int i = 0; i < 4000; i++) {
            sum.update(payment);
        }
        return sum.getValue();
    }

    void book(int number) throws IOException {
        byte[] payment = String.format("%08d;%s;%d.%02d\n", number, "x".repeat(180), number * 7, number % 100)
                .getBytes(StandardCharsets.UTF_8);
        booked += check(payment) & 1;
        ByteBuffer line = ByteBuffer.wrap(payment);
        while (line.hasRemaining()) {
            ledger.write(line);
        }
        makeSafe();
    }

    void makeSafe() throws IOException {
        ledger.force(false);
    }

    public static void main(String[] arguments) throws IOException {
        Main books = new Main(Path.of(arguments[0]));
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            books.book(i);
        }
        System.out.println(books.booked);
    }
}
