import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Serves prices from a table that a lock guards, taken for reading: one table, or one for each thread. */
public class Serve {
	static class Prices {
		final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
		final int[] rows = new int[64];

		int price(int item) {
			lock.readLock().lock();
			try {
				return rows[item & 63];
			} finally {
				lock.readLock().unlock();
			}
		}
	}

	static long serve(Prices prices, int requests) {
		long sum = 0;
		for (int i = 0; i < requests; i++)
			sum += prices.price(i);
		return sum;
	}

	public static void main(String[] arguments) throws Exception {
		boolean common = arguments[0].equals("1");
		int requests = Integer.parseInt(arguments[1]);
		Prices[] prices = new Prices[2];
		byte[][] between = new byte[2][];
		for (int i = 0; i < 2; i++) {
			prices[i] = new Prices();
			between[i] = new byte[4096];
		}
		Thread[] threads = new Thread[2];
		for (int i = 0; i < 2; i++) {
			Prices mine = prices[common ? 0 : i];
			threads[i] = new Thread(() -> System.out.println(serve(mine, requests)));
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
		System.out.println(between[0].length + between[1].length);
	}
}
