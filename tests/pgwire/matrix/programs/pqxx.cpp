// libpqxx: parameters by value, and a cursor.
#include <iostream>
#include <pqxx/pqxx>
#include <sstream>

static std::string shown(const pqxx::field &f) {
  if (f.is_null()) return "\\N";
  std::string out;
  for (char c : std::string(f.c_str(), f.size())) out += c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

static void print(const pqxx::result &r) {
  for (size_t i = 0; i < static_cast<size_t>(r.columns()); i++)
    std::cout << (i ? "|" : "-- ") << r.column_name(static_cast<int>(i)) << " "
              << r.column_type(static_cast<int>(i));
  if (r.columns()) std::cout << "\n";
  for (const auto &row : r) {
    for (size_t i = 0; i < static_cast<size_t>(row.size()); i++)
      std::cout << (i ? "|" : "") << shown(row[static_cast<int>(i)]);
    std::cout << "\n";
  }
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  pqxx::connection c(std::string("host=") + argv[1] + " port=" + argv[2] + " user=" + argv[3] +
                     " dbname=" + argv[4] + " sslmode=disable");
  std::string line;
  while (std::getline(std::cin, line)) {
    std::vector<std::string> words;
    std::stringstream in(line);
    for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
    std::cout << "== " << words[0] << "\n";
    try {
      pqxx::nontransaction t(c);
      if (words.size() == 2) print(t.exec(words[1]));
      if (words.size() == 3) print(t.exec_params(words[1], words[2].substr(2)));
      if (words.size() == 4) print(t.exec_params(words[1], words[2].substr(2), words[3].substr(2)));
    } catch (const pqxx::sql_error &e) {
      std::cout << "!! " << e.sqlstate() << "\n";
    } catch (const std::exception &e) {
      std::cout << "!! " << e.what() << "\n";
    }
  }
  std::cout << "== own: a cursor\n";
  pqxx::work t(c);
  pqxx::icursorstream cursor(t, "SELECT region_id, name FROM regions ORDER BY 1", "parts", 3);
  for (pqxx::result r; cursor >> r;) print(r);
}
