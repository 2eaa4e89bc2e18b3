import com.google.gson.Gson;
import com.google.gson.JsonArray;

/** Reads and writes messages. */
public class Main {
    public static void main(String[] arguments) {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < 400; i++) {
            text.append(i == 0 ? "" : ",");
            text.append("{\"id\":").append(i).append(",\"name\":\"n").append(i).append("\"}");
        }
        text.append("]");
        Gson gson = new Gson();
        long size = 0;
        for (int i = 0; i < 1500; i++) size += gson.toJson(gson.fromJson(text.toString(), JsonArray.class)).length();
        System.out.println(size);
    }
}
