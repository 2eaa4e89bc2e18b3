import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Arrays;

/** Keeps a table of fixed rows in a file and updates them in place. */
public class Main {
    private static final int ROW = 16384;
    private final RandomAccessFile table;
    private final byte[] row = new byte[ROW];

    Main(String file, int rows) throws IOException {
        table = new RandomAccessFile(file, "rw");
        table.setLength((long) rows * ROW);
    }

    private int compute(int number) {
        int sum = number;
        for (int i = 0; i < ROW; i++) {
            sum = sum * 31 + row[i];
            row[i] = (byte) (sum >>> 7);
        }
        return sum;
    }

    private void storeRow(int number) throws IOException {
        table.seek((long) number * ROW);
        table.write(row);
    }

    public static void main(String[] arguments) throws IOException {
        int rows = Integer.parseInt(arguments[1]);
        Main store = new Main(arguments[0], rows);
        int sum = 0;
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            Arrays.fill(store.row, (byte) i);
            sum += store.compute(i);
            store.storeRow((int) (i * 7919L % rows));
        }
        System.out.println(sum);
    }
}
