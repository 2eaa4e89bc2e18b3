import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** A service that logs each request. */
public class Main {
    private static final Logger LOG = LogManager.getLogger(Main.class);

    public static void main(String[] arguments) {
        for (int i = 0; i < 120_000; i++) LOG.info("request {} answered", i);
    }
}
