import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Word index: allocates much, so that the collector and the compiler work too.
 *
 * usage: java Main TEXTS
 */
class Main {
    static List<String> split(String text) {
        List<String> words = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= text.length(); i++) {
            if (i == text.length() || text.charAt(i) == ' ') {
                words.add(text.substring(start, i));
                start = i + 1;
            }
        }
        return words;
    }

    static String makeText(int number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 120; i++) {
            text.append("word").append((number * 31 + i * i) % 5000).append(' ');
        }
        return text.toString();
    }

    public static void main(String[] arguments) {
        int texts = Integer.parseInt(arguments[0]);
        Map<String, List<Integer>> index = new HashMap<>();
        for (int number = 0; number < texts; number++) {
            for (String word : split(makeText(number))) {
                index.computeIfAbsent(word, w -> new ArrayList<>()).add(number);
            }
        }
        long entries = 0;
        for (List<Integer> list : index.values()) {
            entries += list.size();
        }
        System.out.println(entries);
    }
}
