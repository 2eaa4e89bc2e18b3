import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** Two threads that write small messages as JSON. */
public class Main {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private static void write() {
        try {
            long size = 0;
            for (int i = 0; i < 700_000; i++) {
                size += MAPPER.writeValueAsBytes(i).length;
            }
            System.out.println(size);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread[] threads = {new Thread(Main::write), new Thread(Main::write), new Thread(Main::write), new Thread(Main::write)};
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }
}
