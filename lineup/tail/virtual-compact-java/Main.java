import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.ReentrantLock;

/** A virtual thread a connection, which takes a lock for a moment; a job holds it while it compacts the table. */
public class Main {
	static final ReentrantLock lock = new ReentrantLock();
	static final long[] table = new long[1000];

	static long lookUp(int at) {
		lock.lock();
		try {
			return table[at % table.length];
		} finally {
			lock.unlock();
		}
	}

	static void compact() {
		lock.lock();
		try {
			for (int round = 0; round < 100000; round++)
				for (int i = 0; i < table.length; i++)
					table[i] = table[i] * 31 + round;
		} finally {
			lock.unlock();
		}
	}

	static void compactAlways() {
		try {
			for (;;) {
				Thread.sleep(400);
				compact();
			}
		} catch (InterruptedException ended) {
		}
	}

	static void serve(Socket socket) {
		byte[] request = new byte[4096];
		try (socket) {
			socket.setTcpNoDelay(true);
			InputStream in = socket.getInputStream();
			OutputStream out = socket.getOutputStream();
			while (in.read(request) > 0) {
				String body = lookUp(request[5]) == 1 ? "no" : "ok";
				out.write(("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + body).getBytes());
			}
		} catch (Exception ended) {
		}
	}

	public static void main(String[] words) throws Exception {
		ServerSocket listener = new ServerSocket(Integer.parseInt(words[0]), 100, InetAddress.getLoopbackAddress());
		new Thread(() -> compactAlways(), "compactor").start();
		for (;;) {
			Socket socket = listener.accept();
			Thread.startVirtualThread(() -> serve(socket));
		}
	}
}
