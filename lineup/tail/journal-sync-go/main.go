// Payments are written to a journal; every so many are brought to disk before they are answered.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
)

var (
	count   atomic.Int64
	payment = make([]byte, 64<<10)
)

func bookPayment(journal *os.File) {
	number := count.Add(1)
	journal.WriteAt(payment, number%64*int64(len(payment)))
	if number%150 == 0 {
		for range 30 {
			journal.WriteAt(payment, number%64*int64(len(payment)))
			if err := journal.Sync(); err != nil {
				panic(err)
			}
		}
	}
}

func main() {
	journal, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/pay", func(answer http.ResponseWriter, _ *http.Request) {
		bookPayment(journal)
		fmt.Fprintln(answer, "paid")
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
