// A table of prices that each request reads under a lock, and that is read anew from a file now and
// then, with the lock held.
package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type priceTable struct {
	sync.RWMutex
	prices map[int]int
}

func (t *priceTable) price(item int) int {
	t.RLock()
	defer t.RUnlock()
	return t.prices[item]
}

func (t *priceTable) reload(path string) {
	t.Lock()
	defer t.Unlock()
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	t.prices = map[int]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		item, price, _ := strings.Cut(lines.Text(), ";")
		at, _ := strconv.Atoi(item)
		t.prices[at], _ = strconv.Atoi(price)
	}
}

func writePrices(path string) {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	for i := range 150_000 {
		fmt.Fprintf(out, "%d;%d\n", i, i*7919%10_007)
	}
	out.Flush()
}

func main() {
	table := &priceTable{}
	writePrices(os.Args[2])
	table.reload(os.Args[2])
	go func() {
		for range time.Tick(700 * time.Millisecond) {
			table.reload(os.Args[2])
		}
	}()
	http.HandleFunc("/price", func(answer http.ResponseWriter, _ *http.Request) { fmt.Fprintln(answer, table.price(42)) })
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
