import org.yaml.snakeyaml.Yaml;

/** Reads messages with a large text in them. */
public class Main {
    public static void main(String[] arguments) {
        StringBuilder text = new StringBuilder("body: \"");
        for (int i = 0; i < 4000; i++) text.append("a line of the text number ").append(i).append(", ");
        text.append("\"\n");
        long size = 0;
        for (int i = 0; i < 40; i++) size += new Yaml().load(text.toString()).toString().length();
        System.out.println(size);
    }
}
