import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A service that logs through log4j2: five threads write a line of about 150 bytes each millisecond. Prints for each
 * line when it was due and how long after that the call had returned, both in microseconds: a line that waits behind a
 * slow one is late too.
 *
 * <pre>LogWriter File|Async SECONDS</pre>
 *
 * The first word is the appender. Once it is up it says so and reads the time of day in milliseconds at which it begins
 * to measure. Until then it logs as well, so that what it runs is compiled.
 */
public final class LogWriter {
	private static final int THREADS = 5;
	private static final int RATE = 1000;
	private static final long SECOND = 1_000_000_000L;
	private static final String TEXT = "request 4711 of customer 0815 answered with 200 in 12 ms, " + "x".repeat(40);

	public static void main(String[] words) throws InterruptedException, IOException {
		System.setProperty("appender", words[0]);
		int lines = (int) (Double.parseDouble(words[1]) * RATE);
		Logger logger = LogManager.getLogger("service");
		logger.info(TEXT);
		System.out.println("up");
		long given = Long.parseLong(new BufferedReader(new InputStreamReader(System.in)).readLine());
		long begin = System.nanoTime() + (given - System.currentTimeMillis()) * 1_000_000;
		long[][] took = new long[THREADS][lines];
		Thread[] threads = new Thread[THREADS];
		for (int id = 0; id < THREADS; id++) {
			long first = begin + id * SECOND / RATE / THREADS;
			long[] mine = took[id];
			threads[id] = new Thread(() -> log(logger, first, mine), "logger-" + id);
			threads[id].start();
		}
		for (Thread thread : threads) {
			thread.join();
		}
		LogManager.shutdown();
		StringBuilder text = new StringBuilder();
		for (int id = 0; id < THREADS; id++) {
			for (int i = 0; i < lines; i++) {
				double due = (id * SECOND / RATE / THREADS + i * (SECOND / RATE)) / 1e3;
				text.append(due).append(' ').append(took[id][i] / 1e3).append('\n');
			}
		}
		System.out.print(text);
	}

	private static void log(Logger logger, long begin, long[] took) {
		while (System.nanoTime() < begin) {
			logger.info(TEXT);
			LockSupport.parkNanos(SECOND / RATE);
		}
		for (int i = 0; i < took.length; i++) {
			long due = begin + i * (SECOND / RATE);
			for (long left; (left = due - System.nanoTime()) > 0;) {
				LockSupport.parkNanos(left);
			}
			logger.info(TEXT);
			took[i] = System.nanoTime() - due;
		}
	}
}
