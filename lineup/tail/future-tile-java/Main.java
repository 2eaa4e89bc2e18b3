import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

/** A thread a connection, which has the common pool make the tile. One in sixty is projected anew. */
public class Main {

	static double reproject() {
		double sum = 1;
		for (int i = 0; i < 600000; i++)
			sum += Math.sin(sum) * Math.cos(i);
		return sum;
	}

	static int makeTile() {
		if (ThreadLocalRandom.current().nextInt(60) == 0)
			return (int) reproject();
		int sum = 1;
		for (int i = 0; i < 50000; i++)
			sum = sum * 31 + (i & 15);
		return sum;
	}

	static void serve(Socket socket) {
		byte[] request = new byte[4096];
		try (socket) {
			socket.setTcpNoDelay(true);
			InputStream in = socket.getInputStream();
			OutputStream out = socket.getOutputStream();
			while (in.read(request) > 0) {
				String body = CompletableFuture.supplyAsync(Main::makeTile).join() == 0 ? "no" : "ok";
				out.write(("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + body).getBytes());
			}
		} catch (Exception ended) {
		}
	}

	public static void main(String[] words) throws Exception {
		ServerSocket listener = new ServerSocket(Integer.parseInt(words[0]), 100, InetAddress.getLoopbackAddress());
		for (;;) {
			Socket socket = listener.accept();
			new Thread(() -> serve(socket)).start();
		}
	}
}
