// Command ratelimit admits requests through a token bucket per customer and
// reads the time for each one. With -clock=raw it asks the kernel directly.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

type bucket struct {
	tokens float64
	last   int64
}

//go:noinline
func readClock(raw bool) int64 {
	if !raw {
		return time.Now().UnixMicro()
	}
	var now syscall.Timeval
	if _, _, errno := syscall.RawSyscall(syscall.SYS_GETTIMEOFDAY, uintptr(unsafe.Pointer(&now)), 0, 0); errno != 0 {
		return 0
	}
	return now.Sec*1e6 + now.Usec
}

func customerOf(request int) uint32 {
	hash := fnv.New32a()
	hash.Write(strconv.AppendInt([]byte("customer-"), int64(request%9973), 10))
	return hash.Sum32()
}

func admit(buckets map[uint32]*bucket, customer uint32, nowUs int64) bool {
	b := buckets[customer]
	if b == nil {
		b = &bucket{tokens: 10, last: nowUs}
		buckets[customer] = b
	}
	b.tokens = min(10, b.tokens+float64(nowUs-b.last)*1e-4)
	b.last = nowUs
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

func main() {
	requests := flag.Int("requests", 2000000, "requests to admit or refuse")
	clock := flag.String("clock", "vdso", "vdso or raw")
	flag.Parse()
	if *clock != "vdso" && *clock != "raw" {
		fmt.Fprintln(os.Stderr, "-clock must be vdso or raw")
		os.Exit(2)
	}
	buckets := map[uint32]*bucket{}
	seen, admitted := 0, 0
	for seen < *requests {
		if admit(buckets, customerOf(seen), readClock(*clock == "raw")) {
			admitted++
		}
		seen++
	}
	fmt.Println("customers", len(buckets), "of requests", seen, "some admitted", admitted > 0)
}
