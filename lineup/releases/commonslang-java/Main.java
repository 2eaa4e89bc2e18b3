import org.apache.commons.lang3.RandomStringUtils;

/** Makes names for test data. */
public class Main {
    public static void main(String[] arguments) {
        long size = 0;
        for (int i = 0; i < 60_000; i++) {
            size += RandomStringUtils.randomAlphanumeric(24).length();
        }
        System.out.println(size);
    }
}
