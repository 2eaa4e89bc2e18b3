// Command session keeps an in-memory session store that is idle most of the
// time. With -cached-clock a goroutine stores the time once a millisecond, so
// that callers need not ask for it.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"sync/atomic"
	"time"
)

var cachedMs atomic.Int64

func refreshClock() {
	for {
		cachedMs.Store(time.Now().UnixMilli())
		time.Sleep(time.Millisecond)
	}
}

func nowMs() int64 {
	if ms := cachedMs.Load(); ms != 0 {
		return ms
	}
	return time.Now().UnixMilli()
}

// logIn makes a session token; the rounds stand for password hashing.
func logIn(user int) string {
	token := sha256.Sum256(fmt.Appendf(nil, "user-%d", user))
	for range 12000 {
		token = sha256.Sum256(token[:])
	}
	return hex.EncodeToString(token[:])
}

func main() {
	logins := flag.Int("logins", 14, "log-ins, some tens of milliseconds apart")
	cached := flag.Bool("cached-clock", false, "keep the time in a variable")
	flag.Parse()
	if *cached {
		go refreshClock()
	}
	sessions := map[string]int64{}
	// The gaps are irregular, as those between people are.
	for user := range *logins {
		time.Sleep(time.Duration(35+(user*37)%71) * time.Millisecond)
		sessions[logIn(user)] = nowMs()
	}
	fmt.Println("sessions", len(sessions))
}
