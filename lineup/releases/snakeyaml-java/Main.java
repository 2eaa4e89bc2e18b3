import org.yaml.snakeyaml.Yaml;

/** Reads settings. */
public class Main {
    public static void main(String[] arguments) {
        StringBuilder text = new StringBuilder("services:\n");
        for (int i = 0; i < 800; i++) text.append("  - name: s").append(i).append("\n    port: ").append(i).append("\n    hosts: [a, b, c]\n");
        long size = 0;
        for (int i = 0; i < 30; i++) size += new Yaml().load(text.toString()).toString().length();
        System.out.println(size);
    }
}
