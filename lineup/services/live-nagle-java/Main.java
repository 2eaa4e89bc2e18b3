import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;

/** A greeter that answers over HTTP: Main PORT NODELAY. It writes the head of an answer and then its body. */
public class Main {
    static void answer(OutputStream out) throws IOException {
        out.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n".getBytes());
        out.flush();
        out.write("hello\n".getBytes());
        out.flush();
    }

    static void serve(Socket socket) {
        try (socket) {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            OutputStream out = socket.getOutputStream();
            for (String line; (line = in.readLine()) != null; ) {
                if (line.isEmpty()) {
                    answer(out);
                }
            }
        } catch (IOException gone) {
            // the client closed it
        }
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket listener = new ServerSocket(Integer.parseInt(arguments[0]));
        while (true) {
            Socket socket = listener.accept();
            socket.setTcpNoDelay(Boolean.parseBoolean(arguments[1]));
            new Thread(() -> serve(socket)).start();
        }
    }
}
