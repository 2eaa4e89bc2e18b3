import org.json.JSONObject;

/** Reads and writes messages. */
public class Main {
    public static void main(String[] arguments) {
        StringBuilder text = new StringBuilder("{\"items\":[");
        for (int i = 0; i < 400; i++) text.append(i == 0 ? "" : ",").append("{\"id\":").append(i).append(",\"price\":").append(i * 1.5).append(",\"name\":\"n").append(i).append("\"}");
        text.append("]}");
        long size = 0;
        for (int i = 0; i < 700; i++) size += new JSONObject(text.toString()).toString().length();
        System.out.println(size);
    }
}
