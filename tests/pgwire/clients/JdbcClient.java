// What a program with JDBC does; each line it prints is looked at by drivers_test.cc. Arguments: the
// URL.
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Timer;
import java.util.TimerTask;

public class JdbcClient {
    private static int count(ResultSet rows) throws SQLException {
        int count = 0;
        while (rows.next()) count += 1;
        rows.close();
        return count;
    }

    private static String failed(Statement statement, String text) {
        try {
            statement.execute(text);
            return "no error";
        } catch (SQLException error) {
            return error.getSQLState();
        }
    }

    // Seven times: the driver turns to prepared statements and binary values on the way.
    private static void prepare(Connection connection) throws SQLException {
        String text = "SELECT name, used, draining FROM baton.workers WHERE name = ? AND used < ?";
        PreparedStatement statement = connection.prepareStatement(text);
        for (int i = 0; i < 7; ++i) {
            statement.setString(1, "HUB");
            statement.setInt(2, 5);
            ResultSet rows = statement.executeQuery();
            rows.next();
            if (i % 6 != 0) continue;
            System.out.println(rows.getString(1) + rows.getLong(2) + rows.getBoolean(3));
        }
        statement.close();
    }

    private static void lookAround(DatabaseMetaData about) throws SQLException {
        System.out.println(count(about.getTables(null, "public", "%", null)));
        ResultSet columns = about.getColumns(null, "public", "readings", "%");
        while (columns.next()) {
            System.out.println(columns.getString("COLUMN_NAME") + " " + columns.getInt("DATA_TYPE"));
        }
        System.out.println(count(about.getSchemas()));
        System.out.println(count(about.getPrimaryKeys(null, "baton", "workers"))
                + count(about.getIndexInfo(null, "baton", "workers", false, false)));
    }

    private static void transact(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        Statement statement = connection.createStatement();
        statement.execute("CREATE LOGICAL SOURCE jd (a INT8)");
        connection.rollback();
        statement.setFetchSize(1);
        System.out.println(count(statement.executeQuery("SELECT name FROM baton.workers")));
        System.out.println(failed(statement, "SELECT nme FROM baton.workers"));
        System.out.println(failed(statement, "SHOW LINKS"));
        connection.rollback();
        connection.setAutoCommit(true);
    }

    public static void main(String[] arguments) throws Exception {
        Connection connection = DriverManager.getConnection(arguments[0], "ann", "secret");
        System.out.println(connection.isValid(2));
        prepare(connection);
        lookAround(connection.getMetaData());
        transact(connection);
        Statement watch = connection.createStatement();
        new Timer(true).schedule(new TimerTask() {
            public void run() {
                try {
                    watch.cancel();
                } catch (SQLException error) {
                    System.out.println(error.getMessage());
                }
            }
        }, 300);
        System.out.println(failed(watch, "WATCH SHOW LINKS"));
        System.out.println(connection.getCatalog() + " " + connection.getSchema());
        connection.close();
    }
}
