// A handler that asks for a seat, and asks again after a pause when there was none.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

var asked atomic.Int64

func takeSeat() (seat int64, free bool) {
	seat = asked.Add(1)
	return seat, seat%300 != 0
}

func seatInTime() int64 {
	for {
		seat, free := takeSeat()
		if free {
			return seat
		}
		time.Sleep(40 * time.Millisecond)
	}
}

func main() {
	http.HandleFunc("/seat", func(answer http.ResponseWriter, _ *http.Request) { fmt.Fprintln(answer, seatInTime()) })
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
