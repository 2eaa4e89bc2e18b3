// Command ledger books payments: each is confirmed by the bank, and entered into a ledger.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"sync"
	"time"
)

type ledger struct {
	mutex   sync.Mutex
	entries map[int][32]byte
}

// confirm asks the bank, which takes its time.
func confirm() { time.Sleep(700 * time.Microsecond) }

func receipt(payment int) [32]byte {
	sum := sha256.Sum256([]byte(fmt.Sprint("payment ", payment)))
	for range 60 {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

func (l *ledger) book(payment int, within bool) {
	sum := receipt(payment)
	if !within {
		confirm()
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if within {
		confirm()
	}
	l.entries[payment] = sum
}

func main() {
	payments := flag.Int("payments", 1200, "payments to book")
	clerks := flag.Int("clerks", 3, "payments at a time")
	within := flag.Bool("within", false, "confirm with the ledger locked")
	flag.Parse()
	l := &ledger{entries: map[int][32]byte{}}
	var group sync.WaitGroup
	for clerk := range *clerks {
		group.Go(func() {
			for payment := clerk; payment < *payments; payment += *clerks {
				l.book(payment, *within)
			}
		})
	}
	group.Wait()
	fmt.Println(len(l.entries))
}
