import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** One thread a connection; every request adds up the same. */
public class Main {
	static void serve(Socket socket) {
		byte[] answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes();
		byte[] request = new byte[4096];
		try (socket) {
			socket.setTcpNoDelay(true);
			InputStream in = socket.getInputStream();
			OutputStream out = socket.getOutputStream();
			while (in.read(request) > 0) {
				int sum = 0;
				for (int i = 0; i < 200000; i++)
					sum = sum * 31 + request[i & 15];
				answer[answer.length - 1] = (byte) (sum == 1 ? 'K' : 'k');
				out.write(answer);
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
