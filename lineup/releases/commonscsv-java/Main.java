import java.io.StringReader;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;

/** Adds up a column. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        StringBuilder table = new StringBuilder();
        for (int i = 0; i < 60_000; i++) table.append(i).append(",name ").append(i).append(",\"a, b\",").append(i * 3).append('\n');
        long total = 0;
        for (int i = 0; i < 6; i++) {
            for (CSVRecord row : CSVFormat.DEFAULT.parse(new StringReader(table.toString()))) total += Long.parseLong(row.get(3));
        }
        System.out.println(total);
    }
}
