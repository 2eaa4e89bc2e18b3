import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadLocalRandom;

/** A virtual thread a connection; one request in a hundred backs off before it is answered. */
public class Main {
	static void backOff() throws Exception {
		Thread.sleep(25);
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
					backOff();
				out.write(("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + body).getBytes());
			}
		} catch (Exception ended) {
		}
	}

	public static void main(String[] words) throws Exception {
		ServerSocket listener = new ServerSocket(Integer.parseInt(words[0]), 100, InetAddress.getLoopbackAddress());
		for (;;) {
			Socket socket = listener.accept();
			Thread.startVirtualThread(() -> serve(socket));
		}
	}
}
