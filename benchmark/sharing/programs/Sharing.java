// Threads parse records and count them: in words of one cache line, in one word, or apart.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;
import sun.misc.Unsafe;

class Tally {
	volatile long done;
	volatile long bytes;
}

class Room {
	long r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15;
}

class Before extends Room {
	volatile long done;
	volatile long bytes;
}

class Spaced extends Before {
	long s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15;
}

public class Sharing {
	static final VarHandle DONE, SPACED;

	static {
		try {
			DONE = MethodHandles.lookup().findVarHandle(Tally.class, "done", long.class);
			SPACED = MethodHandles.lookup().findVarHandle(Before.class, "done", long.class);
		} catch (ReflectiveOperationException e) {
			throw new ExceptionInInitializerError(e);
		}
	}

	static int parse(int state, int steps) {
		for (int i = 0; i < steps; i++)
			state = state * 1664525 + 1013904223;
		return state;
	}

	static void note(Tally tally, int state) {
		DONE.getAndAdd(tally, 1L);
		tally.bytes += state & 63;
	}

	static void note(Before tally, int state) {
		SPACED.getAndAdd(tally, 1L);
		tally.bytes += state & 63;
	}

	static int batch(Object mine, int state) {
		if (mine instanceof Tally tally)
			for (int i = 0; i < 4096; i++) {
				state = parse(state, 4);
				note(tally, state);
			}
		else if (mine instanceof Before tally)
			for (int i = 0; i < 4096; i++) {
				state = parse(state, 4);
				note(tally, state);
			}
		return state;
	}

	// raw is a reference as the heap keeps it: an address in units of one or of eight bytes.
	static long raw(Unsafe unsafe, Object of) {
		return unsafe.getInt(new Object[] { of }, (long) Unsafe.ARRAY_OBJECT_BASE_OFFSET) & 0xffffffffL;
	}

	// tallies lie side by side, two of 32 bytes to a line; where the heap begins with them is luck,
	// unless the first is left out whose counter (16 bytes behind its begin) is in a line's second half.
	static Tally[] tallies(int count) throws ReflectiveOperationException {
		var field = Unsafe.class.getDeclaredField("theUnsafe");
		field.setAccessible(true);
		Unsafe unsafe = (Unsafe) field.get(null);
		Tally[] all = new Tally[count + 1];
		for (int i = 0; i < all.length; i++)
			all[i] = new Tally();
		long unit = 32 / (raw(unsafe, all[1]) - raw(unsafe, all[0]));
		int first = (raw(unsafe, all[0]) * unit + 16) % 64 < 32 ? 0 : 1;
		return java.util.Arrays.copyOfRange(all, first, first + count);
	}

	public static void main(String[] arguments) throws Exception {
		if (arguments.length != 4) {
			System.err.println("usage: Sharing false|true|padded|own THREADS MILLISECONDS OPERATIONS");
			System.exit(2);
		}
		int threads = Integer.parseInt(arguments[1]);
		long lasts = Long.parseLong(arguments[2]) * 1_000_000;
		long most = Long.parseLong(arguments[3]) / threads;
		AtomicLong operations = new AtomicLong(), ns = new AtomicLong(), kept = new AtomicLong();
		Object[] tallies = new Object[threads];
		Tally[] together = tallies(threads);
		for (int i = 0; i < threads; i++)
			tallies[i] = switch (arguments[0]) {
				case "false" -> together[i];
				case "true" -> together[0];
				default -> new Spaced();
			};
		Thread[] workers = new Thread[threads];
		for (int i = 0; i < threads; i++) {
			Object mine = tallies[i];
			int seed = i;
			workers[i] = new Thread(() -> {
				var clock = ManagementFactory.getThreadMXBean();
				int state = seed;
				long count = 0;
				long begin = clock.getCurrentThreadCpuTime();
				for (long end = System.nanoTime() + lasts; count < most && System.nanoTime() < end; count += 4096)
					state = batch(mine, state);
				ns.addAndGet(clock.getCurrentThreadCpuTime() - begin);
				operations.addAndGet(count);
				kept.addAndGet(state);
			});
		}
		for (Thread worker : workers)
			worker.start();
		for (Thread worker : workers)
			worker.join();
		System.out.println(operations + " " + ns);
	}
}
