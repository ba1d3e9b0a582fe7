// What a program with JDBC does with tables; each line it prints is looked at by tables_test.cc.
// Arguments: the URL.
import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.UUID;

public class JdbcTables {
    private static void insert(Connection connection) throws SQLException {
        String text = "INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            for (int i = 0; i < 20; ++i) {
                statement.setLong(1, i);
                statement.setBigDecimal(2, new BigDecimal("12345678901234.0" + i % 10));
                statement.setObject(3, LocalDate.of(2026, 1, 1 + i));
                statement.setObject(4, LocalDateTime.of(2026, 1, 1, 2, 3, 4, i * 1000));
                statement.setString(5, "t" + i);
                statement.setBytes(6, new byte[] {(byte) i, -1});
                if (i == 7) {
                    statement.setNull(7, Types.DOUBLE);
                } else {
                    statement.setDouble(7, i / 8.0);
                }
                statement.executeUpdate();
            }
        }
    }

    // Seven times: the driver turns to binary values on the way.
    private static void read(Connection connection) throws SQLException {
        String text = "SELECT k, n, d, p, t, y, f, [k, NULL, 3] AS ks, TIME '01:02:03.5' AS m,"
                + " '6f0d3a52-0b9a-4f1e-9a52-1c1a4a3b2c1d'::uuid AS u, INTERVAL '25 hours' AS v,"
                + " ['a,b', '\"'] AS ts, [1.25::numeric(8,3)] AS ns"
                + " FROM kinds WHERE k = ?";
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            for (int i = 0; i < 7; ++i) {
                statement.setInt(1, 7);
                ResultSet rows = statement.executeQuery();
                rows.next();
                String seen = rows.getLong(1) + " " + rows.getBigDecimal(2) + " "
                        + rows.getObject(3, LocalDate.class) + " "
                        + rows.getObject(4, LocalDateTime.class) + " " + rows.getString(5) + " "
                        + Arrays.toString(rows.getBytes(6)) + " " + rows.getObject(7) + " "
                        + Arrays.toString((Object[]) rows.getArray(8).getArray()) + " "
                        + rows.getObject(9, java.time.LocalTime.class) + " "
                        + rows.getObject(10, UUID.class) + " " + rows.getObject(11) + " "
                        + Arrays.toString((Object[]) rows.getArray(12).getArray()) + " "
                        + Arrays.toString((Object[]) rows.getArray(13).getArray());
                if (i % 6 == 0) System.out.println(seen);
            }
        }
    }

    private static void describe(Connection connection) throws SQLException {
        ResultSet columns = connection.getMetaData().getColumns(null, "public", "kinds", "%");
        StringBuilder seen = new StringBuilder();
        while (columns.next()) {
            seen.append(columns.getString("COLUMN_NAME")).append(' ')
                    .append(columns.getString("TYPE_NAME")).append(' ')
                    .append(columns.getInt("COLUMN_SIZE")).append(' ')
                    .append(columns.getInt("DECIMAL_DIGITS")).append(", ");
        }
        System.out.println(seen);
    }

    private static void portions(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        Statement statement = connection.createStatement();
        statement.setFetchSize(1000);
        ResultSet rows = statement.executeQuery("SELECT i FROM range(50000) AS t(i)");
        long sum = 0;
        while (rows.next()) sum += rows.getLong(1);
        System.out.println(sum);
        connection.commit();
        connection.setAutoCommit(true);
    }

    public static void main(String[] arguments) throws Exception {
        Connection connection = DriverManager.getConnection(arguments[0], "ann", "secret");
        connection.createStatement().execute("CREATE TABLE kinds (k BIGINT, n NUMERIC(18,2),"
                + " d DATE, p TIMESTAMP, t VARCHAR, y BYTEA, f DOUBLE PRECISION)");
        insert(connection);
        read(connection);
        describe(connection);
        portions(connection);
        connection.close();
    }
}
