// A session cache and the requests that look things up in it.
package main

import (
	"fmt"
	"os"
	"strconv"
)

type session struct {
	user  string
	tags  []string
	next  *session
	score int
}

func fillCache(count int) map[int]*session {
	cache := make(map[int]*session, count)
	var last *session
	for i := range count {
		s := &session{user: "user-" + strconv.Itoa(i), tags: []string{"a" + strconv.Itoa(i%97), "b"}, score: i}
		if i%8 != 0 {
			s.next = last
		}
		cache[i], last = s, s
	}
	return cache
}

func answerRequest(cache map[int]*session, number int) int {
	fields := make([]string, 0, 12)
	for s := cache[number*7919%len(cache)]; s != nil; s = s.next {
		fields = append(fields, s.user+":"+strconv.Itoa(s.score), s.tags[0])
	}
	sum := 0
	for _, field := range fields {
		sum += len(field)
	}
	return sum
}

func main() {
	sessions, _ := strconv.Atoi(os.Args[1])
	requests, _ := strconv.Atoi(os.Args[2])
	cache := fillCache(sessions)
	sum := 0
	for i := range requests {
		sum += answerRequest(cache, i)
	}
	fmt.Println(sum)
}
