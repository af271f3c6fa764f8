// pgx: binary values, and types that it asks of no catalogue.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgtype"
	"github.com/jackc/pgx/v4"
)

func shown(v interface{}) string {
	if v == nil {
		return "\\N"
	}
	if n, ok := v.(pgtype.Numeric); ok {
		text, _ := n.EncodeText(nil, nil)
		v = string(text)
	}
	return strings.ReplaceAll(fmt.Sprint(v), "\n", "\\n")
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

func ask(c *pgx.Conn, sql string, bound []interface{}) error {
	rows, err := c.Query(context.Background(), sql, bound...)
	if err != nil {
		return err
	}
	defer rows.Close()
	heads := []string{}
	for _, f := range rows.FieldDescriptions() {
		heads = append(heads, fmt.Sprintf("%s %d", f.Name, f.DataTypeOID))
	}
	if len(heads) > 0 {
		fmt.Println("-- " + strings.Join(heads, "|"))
	}
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
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
		var e *pgconn.PgError
		if errors.As(err, &e) {
			fmt.Println("!! " + e.Code)
		} else {
			fmt.Println("!! " + err.Error())
		}
	}
}

func main() {
	a := os.Args
	c, err := pgx.Connect(context.Background(), fmt.Sprintf(
		"host=%s port=%s user=%s dbname=%s sslmode=disable", a[1], a[2], a[3], a[4]))
	if err != nil {
		panic(err)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Split(in.Text(), "\t")
		tried(words[0], func() error { return ask(c, words[1], given(words[2:])) })
	}
	tried("own: an array", func() error {
		return ask(c, "SELECT id FROM t WHERE i = ANY($1) ORDER BY 1",
			[]interface{}{[]int32{7, 10}})
	})
	tried("own: a batch", func() error {
		batch := &pgx.Batch{}
		batch.Queue("SELECT count(*) FROM regions")
		batch.Queue("SELECT name FROM regions WHERE region_id = $1", 2)
		results := c.SendBatch(context.Background(), batch)
		defer results.Close()
		var n int64
		var name string
		if err := results.QueryRow().Scan(&n); err != nil {
			return err
		}
		if err := results.QueryRow().Scan(&name); err != nil {
			return err
		}
		fmt.Println(n, name)
		return nil
	})
}
