// All orders go through one goroutine, in turn; a few of them make it add up the whole year.
package main

import (
	"fmt"
	"net/http"
	"os"
)

type order struct {
	number int
	done   chan uint32
}

var year = make([]uint32, 1<<21)

func addUpYear() (sum uint32) {
	for round := range uint32(12) {
		for _, amount := range year {
			sum = sum*31 + amount ^ round
		}
	}
	return sum
}

func keepBooks(orders <-chan order) {
	for next := range orders {
		sum := uint32(next.number)
		if next.number%400 == 0 {
			sum += addUpYear()
		}
		next.done <- sum
	}
}

func main() {
	orders := make(chan order)
	go keepBooks(orders)
	numbers := make(chan int)
	go func() {
		for i := 1; ; i++ {
			numbers <- i
		}
	}()
	http.HandleFunc("/order", func(answer http.ResponseWriter, _ *http.Request) {
		own := order{<-numbers, make(chan uint32, 1)}
		orders <- own
		fmt.Fprintln(answer, <-own.done)
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
