import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** Books orders in a database in memory. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:shop")) {
            Statement statement = connection.createStatement();
            statement.execute("create table orders(id int primary key, customer int, total decimal(10, 2))");
            statement.execute("create index by_customer on orders(customer)");
            PreparedStatement insert = connection.prepareStatement("insert into orders values(?, ?, ?)");
            for (int i = 0; i < 30_000; i++) {
                insert.setInt(1, i);
                insert.setInt(2, i % 300);
                insert.setInt(3, i);
                insert.execute();
            }
            long total = 0;
            PreparedStatement query = connection.prepareStatement("select sum(total), count(*) from orders where customer = ?");
            for (int i = 0; i < 3000; i++) {
                query.setInt(1, i % 300);
                try (ResultSet found = query.executeQuery()) {
                    found.next();
                    total += found.getLong(2);
                }
            }
            System.out.println(total);
        }
    }
}
