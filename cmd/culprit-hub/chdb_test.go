package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"culprit/internal/fleet/store"
)

// chdb is today's ClickHouse in a Python process, as an engine: each line of its input is a
// statement, each line of its output an answer.
type chdb struct {
	mutex sync.Mutex
	in    io.WriteCloser
	out   *bufio.Reader
	child *exec.Cmd
}

const chdbProgram = `
import json, sys
from chdb import session
s = session.Session()
for line in sys.stdin:
    try:
        text = s.query(json.loads(line), "JSONCompact").bytes().decode()
        print(json.dumps({"data": json.loads(text)["data"] if text.strip() else []}), flush=True)
    except Exception as e:
        print(json.dumps({"error": str(e)}), flush=True)
`

func openChdb(t *testing.T) store.Engine {
	t.Helper()
	venv := os.Getenv("CULPRIT_TEST_VENV")
	if venv == "" {
		venv = filepath.Join(os.Getenv("HOME"), ".cache/culprit-test-venv")
	}
	python := filepath.Join(venv, "bin/python")
	if err := exec.Command(python, "-c", "import chdb").Run(); err != nil {
		t.Skipf("no chdb in %s: 'bash .ci/python' installs it from PyPI (%v)", venv, err)
	}
	c := &chdb{child: exec.Command(python, "-c", chdbProgram)}
	c.child.Stderr = os.Stderr
	c.in, _ = c.child.StdinPipe()
	out, _ := c.child.StdoutPipe()
	c.out = bufio.NewReaderSize(out, 1<<20)
	if err := c.child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.run("CREATE DATABASE d"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.run("USE d"); err != nil {
		t.Fatal(err)
	}
	types := map[store.Kind]string{store.Int: "Int64", store.Text: "String", store.Real: "Float64"}
	for _, table := range store.Tables {
		var columns []string
		for _, column := range table.Columns {
			columns = append(columns, column.Name+" "+types[column.Kind])
		}
		if _, err := c.run("CREATE TABLE " + table.Name + " (" + strings.Join(columns, ", ") +
			") ENGINE = MergeTree ORDER BY (" + strings.Join(table.Order, ", ") + ")"); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *chdb) run(text string) ([][]any, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	line, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	var answer struct {
		Data  [][]any
		Error string
	}
	if line, err = c.out.ReadBytes('\n'); err == nil {
		err = json.Unmarshal(line, &answer)
	}
	if answer.Error != "" {
		err = fmt.Errorf("%s: %.2000s", answer.Error, text)
	}
	return answer.Data, err
}

func literal(value any) string {
	if text, is := value.(string); is {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	}
	return fmt.Sprint(value)
}

func (c *chdb) Shards() int { return 1 }

func (c *chdb) Query(_ context.Context, text string, arguments ...any) (store.Rows, []string, error) {
	for _, argument := range arguments {
		text = strings.Replace(text, "?", literal(argument), 1)
	}
	rows, err := c.run(text + " SETTINGS output_format_json_quote_64bit_integers = 1")
	return &chdbRows{rows: rows}, nil, err
}

func (c *chdb) QueryShard(ctx context.Context, _ int, text string, arguments ...any) (store.Rows, error) {
	rows, _, err := c.Query(ctx, text, arguments...)
	return rows, err
}

func (c *chdb) Append(_ context.Context, _ int, _ int64, batches []store.Batch) error {
	for _, batch := range batches {
		var rows []string
		for _, row := range batch.Rows {
			var values []string
			for _, value := range row {
				values = append(values, literal(value))
			}
			rows = append(rows, "("+strings.Join(values, ", ")+")")
		}
		if _, err := c.run("INSERT INTO " + batch.Table + " VALUES " + strings.Join(rows, ", ")); err != nil {
			return err
		}
	}
	return nil
}

func (c *chdb) Forget(_ context.Context, _ int, before int64) error {
	for _, table := range store.Tables {
		if table.Time == "" {
			continue
		}
		if _, err := c.run(fmt.Sprintf("ALTER TABLE %s DELETE WHERE %s < %d SETTINGS mutations_sync = 1", table.Name,
			table.Time, before-table.Lasts)); err != nil {
			return err
		}
	}
	return nil
}

func (c *chdb) Close() error {
	c.in.Close()
	return c.child.Wait()
}

type chdbRows struct {
	rows [][]any
	next int
}

func (r *chdbRows) Next() bool {
	r.next++
	return r.next <= len(r.rows)
}

func (r *chdbRows) Scan(into ...any) (err error) {
	for i, value := range r.rows[r.next-1] {
		text := fmt.Sprint(value)
		switch into := into[i].(type) {
		case *int64:
			*into, err = strconv.ParseInt(text, 10, 64)
		case *float64:
			*into, err = strconv.ParseFloat(text, 64)
		case *string:
			*into = text
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *chdbRows) Err() error   { return nil }
func (r *chdbRows) Close() error { return nil }
