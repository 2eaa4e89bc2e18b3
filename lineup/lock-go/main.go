// Command thumbs makes thumbnails of pictures in several goroutines. With
// -lock=wide the cache's mutex is held while a thumbnail is being made.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

type cache struct {
	mutex sync.Mutex
	made  map[int]uint32
}

//go:noinline
func shrink(picture, rounds int) uint32 {
	pixel := uint32(picture)
	for range rounds {
		pixel = pixel*1664525 + pixel>>9
	}
	return pixel
}

func (c *cache) store(picture int, wide bool) {
	if wide {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.made[picture] = shrink(picture, 300000)
		return
	}
	thumbnail := shrink(picture, 300000)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.made[picture] = thumbnail
}

func main() {
	pictures := flag.Int("pictures", 1800, "pictures to shrink")
	lock := flag.String("lock", "narrow", "narrow or wide")
	flag.Parse()
	if *lock != "narrow" && *lock != "wide" {
		fmt.Fprintln(os.Stderr, "-lock must be narrow or wide")
		os.Exit(2)
	}
	c := &cache{made: map[int]uint32{}}
	var preview atomic.Uint32
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			for picture := worker; picture < *pictures; picture += 4 {
				preview.Add(shrink(picture, 60000))
				c.store(picture, *lock == "wide")
			}
		})
	}
	workers.Wait()
	fmt.Println(len(c.made), preview.Load())
}
