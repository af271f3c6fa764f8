/* libpq: values in the text format, types by OID, and one row at a time. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void shown(const char *v) {
  for (; *v; v++) *v == '\n' ? (void)fputs("\\n", stdout) : (void)putchar(*v);
}
static void quiet(void *arg, const char *message) { (void)arg; (void)message; }

int main(int argc, char **argv) {
  char info[500], *line = NULL;
  size_t size = 0;
  if (argc < 5) return 2;
  snprintf(info, sizeof info, "host=%s port=%s user=%s dbname=%s sslmode=disable", argv[1], argv[2],
           argv[3], argv[4]);
  PGconn *c = PQconnectdb(info);
  if (PQstatus(c) != CONNECTION_OK) { fputs(PQerrorMessage(c), stderr); return 1; }
  PQsetNoticeProcessor(c, quiet, NULL);
  while (getline(&line, &size, stdin) > 0) {
    const char *words[12];
    int n = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *at = line; at && n < 12; n++) {
      words[n] = at;
      at = strchr(at, '\t');
      if (at) *at++ = 0;
    }
    printf("== %s\n", words[0]);
    for (int i = 2; i < n; i++) words[i] += 2;
    PQsendQueryParams(c, words[1], n - 2, NULL, words + 2, NULL, NULL, 0);
    PQsetSingleRowMode(c);
    PGresult *r;
    int first = 1;
    while ((r = PQgetResult(c))) {
      int columns = PQnfields(r);
      if (PQresultStatus(r) == PGRES_FATAL_ERROR)
        printf("!! %s\n", PQresultErrorField(r, PG_DIAG_SQLSTATE));
      else if (first && columns) {
        printf("--");
        for (int i = 0; i < columns; i++)
          printf(" %s of %u %d,", PQfname(r, i), PQftype(r, i), PQfmod(r, i));
        puts("");
      }
      first = 0;
      for (int row = 0; row < PQntuples(r); row++, puts(""))
        for (int i = 0; i < columns; i++) {
          if (i) putchar('|');
          shown(PQgetisnull(r, row, i) ? "\\N" : PQgetvalue(r, row, i));
        }
      PQclear(r);
    }
  }
  for (int i = 0; i < 3; i++) {
    static const char *names[] = {"server_encoding", "integer_datetimes", "standard_conforming_strings"};
    printf("== own: %s\n%s\n", names[i], PQparameterStatus(c, names[i]));
  }
  PQfinish(c);
  return 0;
}
