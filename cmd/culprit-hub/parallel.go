package main

import "sync"

// inParallel does something with each, many at once so that they are committed together, and
// returns all failures.
func inParallel(all []string, work func(string) error) []error {
	const atOnce = 64
	next := make(chan string)
	var failures []error
	var mutex sync.Mutex
	var wait sync.WaitGroup
	for range min(atOnce, len(all)) {
		wait.Go(func() {
			for one := range next {
				if err := work(one); err != nil {
					mutex.Lock()
					failures = append(failures, err)
					mutex.Unlock()
				}
			}
		})
	}
	for _, one := range all {
		next <- one
	}
	close(next)
	wait.Wait()
	return failures
}
