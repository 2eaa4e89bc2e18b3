import java.util.List;
import java.util.stream.Collectors;

/** A small tool that is started often. */
public class Main {
    public static void main(String[] arguments) {
        System.out.println(List.of("a", "b", "c").stream().map(String::toUpperCase).collect(Collectors.joining(",")));
    }
}
