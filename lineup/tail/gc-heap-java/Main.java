import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;

/** One thread a connection; each request leaves garbage, and a session store of 120 MB stays alive. */
public class Main {
	static final ArrayDeque<byte[][]> sessions = new ArrayDeque<>();

	static synchronized void remember() {
		byte[][] session = new byte[40][];
		for (int i = 0; i < session.length; i++)
			session[i] = new byte[200];
		sessions.addLast(session);
		if (sessions.size() > 12000)
			sessions.removeFirst();
	}

	static void serve(Socket socket) {
		byte[] answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes();
		byte[] request = new byte[4096];
		try (socket) {
			socket.setTcpNoDelay(true);
			InputStream in = socket.getInputStream();
			OutputStream out = socket.getOutputStream();
			while (in.read(request) > 0) {
				for (int i = 0; i < 4; i++)
					remember();
				out.write(answer);
			}
		} catch (Exception ended) {
		}
	}

	public static void main(String[] words) throws Exception {
		for (int i = 0; i < 12000; i++)
			remember();
		ServerSocket listener = new ServerSocket(Integer.parseInt(words[0]), 100, InetAddress.getLoopbackAddress());
		for (;;) {
			Socket socket = listener.accept();
			new Thread(() -> serve(socket)).start();
		}
	}
}
