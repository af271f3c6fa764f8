// lib/pq, by database/sql.
package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/lib/pq"
)

func shown(v interface{}) string {
	switch w := v.(type) {
	case nil:
		return "\\N"
	case []byte:
		return strings.ReplaceAll(string(w), "\n", "\\n")
	default:
		return strings.ReplaceAll(fmt.Sprint(w), "\n", "\\n")
	}
}

func given(words []string) []interface{} {
	out := []interface{}{}
	for _, word := range words {
		switch word[0] {
		case 'i':
			n, _ := strconv.ParseInt(word[2:], 10, 64)
			out = append(out, n)
		case 'f':
			f, _ := strconv.ParseFloat(word[2:], 64)
			out = append(out, f)
		default:
			out = append(out, word[2:])
		}
	}
	return out
}

func ask(db *sql.DB, text string, bound []interface{}) error {
	rows, err := db.Query(text, bound...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, _ := rows.Columns()
	types, _ := rows.ColumnTypes()
	if len(names) > 0 {
		heads := []string{}
		for i, t := range types {
			heads = append(heads, names[i]+" "+t.DatabaseTypeName())
		}
		fmt.Println("-- " + strings.Join(heads, "|"))
	}
	for rows.Next() {
		values := make([]interface{}, len(names))
		places := make([]interface{}, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return err
		}
		out := []string{}
		for _, v := range values {
			out = append(out, shown(v))
		}
		fmt.Println(strings.Join(out, "|"))
	}
	return rows.Err()
}

func tried(name string, code func() error) {
	fmt.Println("== " + name)
	if err := code(); err != nil {
		if e, ok := err.(*pq.Error); ok {
			fmt.Println("!! " + string(e.Code))
		} else {
			fmt.Println("!! " + err.Error())
		}
	}
}

func main() {
	a := os.Args
	db, err := sql.Open("postgres", fmt.Sprintf(
		"host=%s port=%s user=%s dbname=%s sslmode=disable", a[1], a[2], a[3], a[4]))
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Split(in.Text(), "\t")
		tried(words[0], func() error { return ask(db, words[1], given(words[2:])) })
	}
	tried("own: an array", func() error {
		return ask(db, "SELECT id FROM t WHERE i = ANY($1) ORDER BY 1",
			[]interface{}{pq.Array([]int64{7, 10})})
	})
}
