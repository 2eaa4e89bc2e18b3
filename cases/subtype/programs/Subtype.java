// Two threads ask objects of one class which interfaces it has (JDK-8180450): asked for one and the
// other in turn, the JVM up to 22 writes its one-entry cache in the class's metadata each time.
public class Subtype {
	interface Sized {}
	interface Named {}
	interface Dated {}
	interface Priced {}
	interface Taxed {}
	interface Shipped {}

	static class Order implements Sized, Named, Dated, Priced, Taxed, Shipped {
		int amount = 1;
	}

	static class Draft implements Sized, Named, Dated, Priced, Taxed, Shipped {
		int amount = 2;
	}

	static volatile int kept;

	static int named(Object item) {
		return item instanceof Named ? 1 : 0;
	}

	static int taxed(Object item) {
		return item instanceof Taxed ? 1 : 0;
	}

	// What asks for both flips the cache; what asks for one twice does the same work and does not.
	static int both(Object[] items) {
		int sum = 0;
		for (int i = 0; i < 1000; i++)
			sum += named(items[i & 63]) + taxed(items[i & 63]);
		return sum;
	}

	static int one(Object[] items) {
		int sum = 0;
		for (int i = 0; i < 1000; i++)
			sum += named(items[i & 63]) + named(items[i + 1 & 63]);
		return sum;
	}

	static int times(Object[] items, long rounds, boolean flips) {
		int sum = 0;
		for (long i = 0; i < rounds; i++)
			sum += flips ? both(items) : one(items);
		return sum;
	}

	public static void main(String[] arguments) throws Exception {
		if (arguments.length != 3) {
			System.err.println("usage: Subtype THREADS THOUSANDS flip|one");
			System.exit(2);
		}
		int threads = Integer.parseInt(arguments[0]);
		long rounds = Long.parseLong(arguments[1]) / threads;
		boolean flips = arguments[2].equals("flip");
		Object[] items = new Object[64], drafts = new Object[64];
		for (int i = 0; i < 64; i++) {
			items[i] = new Order();
			drafts[i] = new Draft();
		}
		kept = times(drafts, 2000, flips); // compiled with another class than the one that is asked
		long begin = System.nanoTime();
		Thread[] workers = new Thread[threads];
		for (int i = 0; i < threads; i++) {
			workers[i] = new Thread(() -> kept = times(items, rounds, flips), "worker-" + i);
			workers[i].start();
		}
		for (Thread worker : workers)
			worker.join();
		double seconds = (System.nanoTime() - begin) * 1e-9;
		System.out.printf("%.3f million checks/s%n", threads * rounds * 2000 / seconds * 1e-6);
	}
}
