// Routes messages: workers look up a route, rewrite the message and note it in statistics that they
// share.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

type statistics struct {
	mutex  sync.Mutex
	counts map[string]int
}

func (s *statistics) note(route string) {
	s.mutex.Lock()
	s.counts[route]++
	s.mutex.Unlock()
}

type router struct{ prefixes, targets []string }

func newRouter(routes int) *router {
	r := &router{}
	for i := range routes {
		r.prefixes = append(r.prefixes, fmt.Sprintf("/tenant-%d/", i))
		r.targets = append(r.targets, fmt.Sprintf("queue-%d", i%7))
	}
	r.prefixes, r.targets = append(r.prefixes, "/"), append(r.targets, "queue-rest")
	return r
}

//go:noinline
func (r *router) match(path string) string {
	for i, prefix := range r.prefixes {
		if strings.HasPrefix(path, prefix) {
			return r.targets[i]
		}
	}
	return ""
}

//go:noinline
func rewrite(path, target string) int {
	return len(strings.ToUpper(target + ":" + strings.ReplaceAll(path, "/", ".")))
}

func main() {
	messages, _ := strconv.Atoi(os.Args[1])
	routes, _ := strconv.Atoi(os.Args[2])
	r, s := newRouter(routes), &statistics{counts: map[string]int{}}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := worker; i < messages; i += 4 {
				path := "/public/" + strconv.Itoa(i%1000)
				target := r.match(path)
				rewrite(path, target)
				s.note(target)
			}
		})
	}
	group.Wait()
	fmt.Println(s.counts)
}
