// Command batches signs batches in a worker; the main goroutine looks for its
// result now and then.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"sync/atomic"
	"time"
)

//go:noinline
func signBatch(batch, rounds int) byte {
	sum := sha256.Sum256([]byte(fmt.Sprint(batch)))
	for range rounds {
		sum = sha256.Sum256(sum[:])
	}
	return sum[0]
}

func main() {
	batches := flag.Int("batches", 60, "number of batches")
	rounds := flag.Int("rounds", 30000, "rounds of each signature")
	flag.Parse()
	total := 0
	for batch := range *batches {
		var ready atomic.Bool
		var signature byte
		go func() {
			signature = signBatch(batch, *rounds)
			ready.Store(true)
		}()
		for !ready.Load() {
			time.Sleep(500 * time.Microsecond)
		}
		total += int(signature)
	}
	fmt.Println(total)
}
