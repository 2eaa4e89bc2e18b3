/** Reads fields that may be missing, the careless way. */
public class Main {
    private static int length(String text) {
        try {
            return text.length();
        } catch (NullPointerException e) {
            return 0;
        }
    }

    private static int deep(String text, int depth) {
        return depth == 0 ? length(text) : deep(text, depth - 1) + 1;
    }

    public static void main(String[] arguments) {
        long total = 0;
        for (int i = 0; i < 900_000; i++) {
            total += deep(i % 50 == 0 ? null : "text", 12);
        }
        System.out.println(total);
    }
}
