# RPostgreSQL: data frames, and dbListTables().
suppressMessages(library(RPostgreSQL))
given <- commandArgs(trailingOnly = TRUE)
options(digits = 15, encoding = "UTF-8")
c <- dbConnect(PostgreSQL(), host = given[1], port = as.integer(given[2]), user = given[3],
               dbname = given[4])
shown <- function(v) ifelse(is.na(v), "\\N", gsub("\n", "\\n", as.character(v), fixed = TRUE))
frame <- function(r) {
  if (is.null(r) || !is.data.frame(r)) return(invisible())
  cat("-- ", paste(names(r), vapply(r, function(x) class(x)[1], ""), collapse = "|"), "\n", sep = "")
  for (i in seq_len(nrow(r)))
    cat(paste(vapply(r, function(x) shown(x[i]), ""), collapse = "|"), "\n", sep = "")
}
tried <- function(name, code) {
  cat("== ", name, "\n", sep = "")
  tryCatch(suppressWarnings(code()), error = function(e) cat("!! refused\n"))
}
for (line in readLines(file("stdin"), encoding = "UTF-8")) {
  words <- strsplit(line, "\t", fixed = TRUE)[[1]]
  bound <- as.list(substring(words[-(1:2)], 3))
  tried(words[1], function()
    frame(if (length(bound)) dbGetQuery(c, words[2], bound) else dbGetQuery(c, words[2])))
}
tried("own: tables", function() cat(sort(dbListTables(c)), "\n"))
tried("own: exists", function() cat(dbExistsTable(c, "orders"), dbExistsTable(c, "nope"), "\n"))
tried("own: fields", function() cat(dbListFields(c, "orders"), "\n"))
tried("own: a table", function() frame(dbReadTable(c, "regions")))
invisible(dbDisconnect(c))
