import java.util.concurrent.atomic.AtomicLongArray;

/* Two threads count, each in every second element of one array.
 *
 * Slots SECONDS */
public class Slots {
	static final AtomicLongArray slots = new AtomicLongArray(6);

	static void count(int first, long end) {
		while (System.nanoTime() < end)
			for (int i = 0; i < 3000; i++)
				slots.getAndAdd(first + i % 3 * 2, 1);
	}

	public static void main(String[] arguments) throws Exception {
		long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
		Thread other = new Thread(() -> count(1, end));
		other.start();
		count(0, end);
		other.join();
	}
}
