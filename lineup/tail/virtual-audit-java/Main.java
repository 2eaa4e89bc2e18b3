import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/** A virtual thread a connection; one request in a hundred goes into the audit log, which is forced to disk. */
public class Main {
	static FileChannel audit;

	static final ByteBuffer lines = ByteBuffer.allocateDirect(16 << 10);

	static void writeAudit() throws Exception {
		for (int i = 0; i < 8; i++) {
			audit.write(lines.duplicate(), 0);
			audit.force(true);
		}
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
					writeAudit();
				out.write(("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + body).getBytes());
			}
		} catch (Exception ended) {
		}
	}

	public static void main(String[] words) throws Exception {
		audit = FileChannel.open(Path.of(words[1]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
		ServerSocket listener = new ServerSocket(Integer.parseInt(words[0]), 100, InetAddress.getLoopbackAddress());
		for (;;) {
			Socket socket = listener.accept();
			Thread.startVirtualThread(() -> serve(socket));
		}
	}
}
