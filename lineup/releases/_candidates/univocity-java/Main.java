import com.univocity.parsers.csv.CsvParser;
import com.univocity.parsers.csv.CsvParserSettings;
import java.io.StringReader;

/** Reads small tables whose format is not known. */
public class Main {
    public static void main(String[] arguments) {
        StringBuilder table = new StringBuilder();
        for (int i = 0; i < 400; i++) {
            table.append(i).append(";name ").append(i).append(";\"a, b\";").append(i * 3).append('\n');
        }
        long rows = 0;
        for (int i = 0; i < 400; i++) {
            CsvParserSettings settings = new CsvParserSettings();
            settings.detectFormatAutomatically();
            rows += new CsvParser(settings).parseAll(new StringReader(table.toString())).size();
        }
        System.out.println(rows);
    }
}
