import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;

/** Checks a large list of orders. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        String properties = "{\"id\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\",\"maxLength\":40}}";
        String item = "{\"type\":\"object\",\"properties\":" + properties
            + ",\"anyOf\":[{\"required\":[\"id\"]},{\"required\":[\"name\"]}]}";
        JsonSchema schema = JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V7)
            .getSchema("{\"type\":\"array\",\"items\":" + item + "}");
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < 300; i++) {
            text.append(i == 0 ? "" : ",");
            text.append("{\"id\":").append(i).append(",\"name\":\"n").append(i).append("\"}");
        }
        JsonNode orders = new ObjectMapper().readTree(text.append("]").toString());
        long wrong = 0;
        for (int i = 0; i < 40; i++) wrong += schema.validate(orders).size();
        System.out.println(wrong);
    }
}
