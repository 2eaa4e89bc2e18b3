import java.util.TreeMap;
import net.sf.jsqlparser.parser.CCJSqlParserUtil;
import net.sf.jsqlparser.statement.Statement;
import net.sf.jsqlparser.util.TablesNamesFinder;

/** Counts the tables that the statements of a report read. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        TreeMap<String, Integer> tables = new TreeMap<>();
        TablesNamesFinder finder = new TablesNamesFinder();
        for (int i = 0; i < 55; i++) {
            String[] statements = {
                "select a.id, a.name as n, count(*) from orders a left join lines b on a.id = b.order_id"
                    + " where (a.state = " + i + " or (b.price > 10 and (b.count < 3"
                    + " or (a.kind = 'x' and (b.a = 1 or b.b = 2))))) group by a.id order by n",
                "insert into totals (id, total) values (" + i + ", 3)",
                "select c.name, c.city from customers c"
                    + " where c.id in (1, 2, 3) and c.since > '2020-01-01' order by c.name",
            };
            for (String text : statements) {
                Statement statement = CCJSqlParserUtil.parse(text);
                for (String table : finder.getTableList(statement)) tables.merge(table, 1, Integer::sum);
            }
        }
        System.out.println(tables);
    }
}
