import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/** A thread a connection, which has a pool price the item and waits for that. Main PORT PAUSE EVERY: one price in EVERY
 *  backs off for PAUSE ms. */
public class Main {
	static int pause, every;

	static final ExecutorService pool = Executors.newFixedThreadPool(6);

	static void backOff() throws Exception {
		Thread.sleep(pause);
	}

	static int priceOf(byte[] request) throws Exception {
		if (pause > 0 && ThreadLocalRandom.current().nextInt(every) == 0)
			backOff();
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
				String body = pool.submit(() -> priceOf(request)).get() == 0 ? "no" : "ok";
				out.write(("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + body).getBytes());
			}
		} catch (Exception ended) {
		}
	}

	public static void main(String[] words) throws Exception {
		pause = Integer.parseInt(words[1]);
		every = Integer.parseInt(words[2]);
		ServerSocket listener = new ServerSocket(Integer.parseInt(words[0]), 100, InetAddress.getLoopbackAddress());
		for (;;) {
			Socket socket = listener.accept();
			new Thread(() -> serve(socket)).start();
		}
	}
}
