import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A thread a connection; one request in a hundred waits for the next batch, which a scheduler flushes each 40 ms. */
public class Main {
	static final Queue<CompletableFuture<Integer>> batch = new ConcurrentLinkedQueue<>();

	static void flush() {
		CompletableFuture<Integer> next;
		while ((next = batch.poll()) != null)
			next.complete(1);
	}

	static int awaitBatch() throws Exception {
		var mine = new CompletableFuture<Integer>();
		batch.add(mine);
		return mine.get();
	}

	static int makePage(byte[] request) {
		int sum = 0;
		for (int i = 0; i < 60000; i++)
			sum = sum * 31 + request[i & 15];
		return sum;
	}

	static void serve(Socket socket) {
		byte[] request = new byte[4096];
		try (socket) {
			socket.setTcpNoDelay(true);
			InputStream in = socket.getInputStream();
			OutputStream out = socket.getOutputStream();
			while (in.read(request) > 0) {
				String body = makePage(request) == 0 ? "no" : "ok";
				if (ThreadLocalRandom.current().nextInt(100) == 0)
					awaitBatch();
				out.write(("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + body).getBytes());
			}
		} catch (Exception ended) {
		}
	}

	public static void main(String[] words) throws Exception {
		ServerSocket listener = new ServerSocket(Integer.parseInt(words[0]), 100, InetAddress.getLoopbackAddress());
		Executors.newScheduledThreadPool(1).scheduleAtFixedRate(() -> flush(), 40, 40, TimeUnit.MILLISECONDS);
		for (;;) {
			Socket socket = listener.accept();
			new Thread(() -> serve(socket)).start();
		}
	}
}
