import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A nightly import: records become customers, and what a file needed is let go after it. */
public class Main {
    record Order(String item, int amount) {}

    static final class Customer {
        final String name;
        final List<Order> orders = new ArrayList<>();

        Customer(String name) {
            this.name = name;
        }
    }

    private final Map<String, Customer> customers = new HashMap<>();
    private final int filesPerRelease;
    private long checksum;

    Main(int filesPerRelease) {
        this.filesPerRelease = filesPerRelease;
    }

    private List<String> readFile(int file) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 4000; i++) {
            lines.add("customer-" + (file * 7919 + i * 31) % 60000 + ";item-" + i % 500 + ";" + (i % 9 + 1));
        }
        return lines;
    }

    private void importLine(String line) {
        String[] parts = line.split(";");
        Customer customer = customers.computeIfAbsent(parts[0], Customer::new);
        int amount = Integer.parseInt(parts[2]);
        customer.orders.add(new Order(parts[1], amount));
        checksum += amount * (long) customer.orders.size();
    }

    private void releaseFiles(int file) {
        if (file % filesPerRelease == 0) {
            System.gc();
        }
    }

    public static void main(String[] arguments) {
        Main main = new Main(Integer.parseInt(arguments[1]));
        for (int file = 1; file <= Integer.parseInt(arguments[0]); file++) {
            for (String line : main.readFile(file)) {
                main.importLine(line);
            }
            main.releaseFiles(file);
        }
        System.out.println(main.checksum);
    }
}
