import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Stores states in a buffer and reads them again. */
public class Main {
    public static void main(String[] arguments) {
        Kryo kryo = new Kryo();
        kryo.setRegistrationRequired(false);
        List<Map<String, Object>> state = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Map<String, Object> row = new HashMap<>();
            row.put("id", i);
            row.put("name", "n" + i);
            row.put("price", i * 1.5);
            state.add(row);
        }
        long size = 0;
        for (int i = 0; i < 4000; i++) {
            Output output = new Output(1 << 16);
            kryo.writeObject(output, state);
            size += kryo.readObject(new Input(output.toBytes()), ArrayList.class).size();
        }
        System.out.println(size);
    }
}
