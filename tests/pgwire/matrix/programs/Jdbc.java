// pgjdbc: prepared statements, and DatabaseMetaData as Metabase, DBeaver and DataGrip use it.
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.sql.*;

public class Jdbc {
  static PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  static String shown(Object v) {
    return v == null ? "\\N" : v.toString().replace("\n", "\\n");
  }

  interface Asked { ResultSet ask() throws SQLException; }

  static void tried(String name, Asked asked, String... only) {
    out.println("== " + name);
    try (ResultSet r = asked.ask()) {
      if (r == null) return;
      ResultSetMetaData m = r.getMetaData();
      StringBuilder head = new StringBuilder();
      for (int i = 1; only.length == 0 && i <= m.getColumnCount(); i++)
        head.append("|" + m.getColumnLabel(i) + " " + m.getColumnTypeName(i) + " " + m.getPrecision(i));
      out.println("-- " + head);
      while (r.next()) {
        StringBuilder row = new StringBuilder();
        if (only.length == 0)
          for (int i = 1; i <= m.getColumnCount(); i++) row.append("|" + shown(r.getObject(i)));
        for (String column : only) row.append("|" + shown(r.getObject(column)));
        out.println(row);
      }
    } catch (SQLException e) {
      out.println("!! " + e.getSQLState());
    }
  }

  public static void main(String[] args) throws Exception {
    String url = "jdbc:postgresql://" + args[0] + ":" + args[1] + "/" + args[3]
        + "?sslmode=disable&preferQueryMode=" + args[4];
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Connection c = DriverManager.getConnection(url, args[2], "")) {
      for (String line; (line = in.readLine()) != null; ) {
        String[] words = line.split("\t", -1);
        tried(words[0], () -> {
          String sql = words.length > 2 ? words[1].replaceAll("\\$\\d", "?") : words[1];
          if (words.length == 2) {
            Statement s = c.createStatement();
            return s.execute(sql) ? s.getResultSet() : null;
          }
          PreparedStatement s = c.prepareStatement(sql);
          for (int i = 2; i < words.length; i++) {
            String text = words[i].substring(2);
            switch (words[i].charAt(0)) {
              case 'i': s.setLong(i - 1, Long.parseLong(text)); break;
              case 'f': s.setDouble(i - 1, Double.parseDouble(text)); break;
              default: s.setString(i - 1, text);
            }
          }
          return s.executeQuery();
        });
      }
      DatabaseMetaData m = c.getMetaData();
      tried("own: schemas", () -> m.getSchemas(), "TABLE_SCHEM");
      tried("own: catalogs", () -> m.getCatalogs());
      tried("own: table types", () -> m.getTableTypes());
      tried("own: tables", () -> m.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}),
          "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE", "REMARKS");
      tried("own: columns", () -> m.getColumns(null, "public", "%", "%"), "TABLE_NAME",
          "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE",
          "COLUMN_DEF", "ORDINAL_POSITION", "IS_NULLABLE", "IS_AUTOINCREMENT");
      for (String table : new String[] {"regions", "orders", "t"}) {
        tried("own: key of " + table, () -> m.getPrimaryKeys(null, "public", table),
            "TABLE_NAME", "COLUMN_NAME", "KEY_SEQ", "PK_NAME");
        tried("own: imported keys of " + table, () -> m.getImportedKeys(null, "public", table),
            "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ",
            "UPDATE_RULE", "DELETE_RULE", "FK_NAME", "PK_NAME", "DEFERRABILITY");
        tried("own: exported keys of " + table, () -> m.getExportedKeys(null, "public", table),
            "PKTABLE_NAME", "FKTABLE_NAME", "FK_NAME");
        tried("own: indexes of " + table, () -> m.getIndexInfo(null, "public", table, false, true),
            "TABLE_NAME", "NON_UNIQUE", "INDEX_NAME", "TYPE", "COLUMN_NAME", "ASC_OR_DESC");
        tried("own: best row of " + table,
            () -> m.getBestRowIdentifier(null, "public", table, 0, false), "COLUMN_NAME");
        tried("own: rights on " + table, () -> m.getColumnPrivileges(null, "public", table, "%"),
            "COLUMN_NAME");
      }
      tried("own: functions", () -> m.getFunctions(null, "pg_catalog", "array_le%"),
          "FUNCTION_SCHEM", "FUNCTION_NAME", "FUNCTION_TYPE");
      tried("own: types", () -> m.getTypeInfo(), "TYPE_NAME", "DATA_TYPE", "PRECISION");
      tried("own: user types", () -> m.getUDTs(null, "public", "%", null), "TYPE_NAME");
      out.println("== own: names");
      out.println(m.getDatabaseProductName() + " " + m.getDatabaseMajorVersion() + " "
          + m.getMaxConnections() + " " + m.getMaxTableNameLength() + " "
          + m.getDefaultTransactionIsolation() + " " + m.getNumericFunctions());
      c.setAutoCommit(false);
      tried("own: a cursor", () -> {
        Statement s = c.createStatement();
        s.setFetchSize(2);
        return s.executeQuery("SELECT region_id, name FROM regions ORDER BY 1");
      });
      tried("own: scrolled", () -> {
        Statement s = c.createStatement(
            ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
        ResultSet r = s.executeQuery("SELECT id, i, f, d, t, day, ts, b FROM t ORDER BY 1");
        r.last();
        r.beforeFirst();
        return r;
      });
      c.rollback();
      
      tried("own: an array", () -> {
        PreparedStatement s = c.prepareStatement("SELECT id FROM t WHERE i = ANY(?) ORDER BY 1");
        s.setArray(1, c.createArrayOf("int4", new Integer[] {7, 10}));
        return s.executeQuery();
      });
      c.commit();
    }
  }
}
