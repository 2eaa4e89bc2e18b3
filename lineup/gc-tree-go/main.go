// Command tree keeps a large tree of sessions alive and answers requests that make short-lived
// garbage.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

type session struct {
	left, right *session
	name        string
}

func grow(depth int) *session {
	if depth == 0 {
		return &session{name: "leaf"}
	}
	return &session{left: grow(depth - 1), right: grow(depth - 1), name: strconv.Itoa(depth)}
}

func answer(request int) int {
	parts := make([]string, 0, 8)
	for i := range 8 {
		parts = append(parts, strconv.Itoa(request*i))
	}
	return len(strings.Join(parts, ","))
}

func main() {
	requests, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: tree REQUESTS")
		os.Exit(2)
	}
	sessions, total := grow(17), 0
	for request := range requests {
		total += answer(request)
	}
	fmt.Println(total, sessions.name)
}
