import java.io.IOException;
import java.io.RandomAccessFile;

/** Two threads keep their records in files of their own; a log of changes belongs to both. */
public class Main {
    private static final int RECORD = 512;
    private long changes;

    private synchronized void noteChange(byte[] record) {
        for (int pass = 0; pass < 400; pass++) {
            for (byte each : record) {
                changes = changes * 31 + each;
            }
        }
    }

    private static long prepare(byte[] record, int number) {
        long sum = number;
        for (int pass = 0; pass < 40; pass++) {
            for (int i = 0; i < record.length; i++) {
                sum = sum * 31 + record[i];
                record[i] = (byte) (sum >>> 9);
            }
        }
        return sum;
    }

    private void keep(String path, int count) {
        byte[] record = new byte[RECORD];
        try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
            for (int i = 0; i < count; i++) {
                prepare(record, i);
                noteChange(record);
                file.seek((long) (i % 1000) * RECORD);
                file.write(record);
            }
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int count = Integer.parseInt(arguments[1]);
        boolean shared = arguments[2].equals("one");
        Main first = new Main();
        Main second = shared ? first : new Main();
        Thread other = new Thread(() -> second.keep(arguments[0] + "-2", count));
        other.start();
        first.keep(arguments[0] + "-1", count);
        other.join();
        System.out.println(first.changes + second.changes);
    }
}
