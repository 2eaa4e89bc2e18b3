import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/** Keeps the sessions of the last requests, each with a few objects. */
public class Main {
    record Session(int user, Map<String, String> values) {
    }

    private final ArrayDeque<Session> recent = new ArrayDeque<>();

    Session open(int user) {
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i < 6; i++) {
            values.put("key" + i, "value" + (user * 31 + i));
        }
        return new Session(user, values);
    }

    int serve(int user) {
        Session session = open(user);
        recent.addLast(session);
        if (recent.size() > 18000) {
            recent.removeFirst();
        }
        return session.values().hashCode();
    }

    public static void main(String[] arguments) {
        Main service = new Main();
        int sum = 0;
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            sum += service.serve(i);
        }
        System.out.println(sum);
    }
}
