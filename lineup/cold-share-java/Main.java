import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Reads a few dates and counts the weeks: a small command that is started often. */
class Main {
    public static void main(String[] arguments) {
        Pattern pattern = Pattern.compile("(\\d{4})-(\\d{2})-(\\d{2})");
        DateTimeFormatter formatter = DateTimeFormatter.ofPattern("yyyy-MM-dd");
        ConcurrentHashMap<Integer, Integer> days = new ConcurrentHashMap<>();
        IntStream.range(0, 2000).mapToObj(i -> LocalDate.of(2024, 1, 1).plusDays(i).format(formatter))
                .filter(text -> pattern.matcher(text).matches())
                .forEach(text -> days.merge(LocalDate.parse(text).getDayOfYear() / 7, 1, Integer::sum));
        System.out.println(new TreeMap<>(days).values().stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }
}
