// Command entries is a sidecar in small: it asks sentinel-golang for an entry, as MOSN does for
// each request, at a given rate, with its cached time (a ticker that stores the time once a
// millisecond) on or off.
//
//	entries RATE on|off SECONDS
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	sentinel "github.com/alibaba/sentinel-golang/api"
	"github.com/alibaba/sentinel-golang/core/base"
	"github.com/alibaba/sentinel-golang/core/config"
	"github.com/alibaba/sentinel-golang/core/flow"
)

// batch is long beside the ticker's millisecond, so that pacing costs little and the same on both
// sides.
const batch = 20 * time.Millisecond

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "entries: %v\n", err)
		os.Exit(2)
	}
}

func run(words []string) error {
	if len(words) != 3 {
		return fmt.Errorf("usage: entries RATE on|off SECONDS")
	}
	rate, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(words[2], 64)
	if err != nil {
		return err
	}
	if err := start(words[1] == "on"); err != nil {
		return err
	}
	begin, done := time.Now(), 0
	for next := begin.Add(batch); next.Sub(begin).Seconds() <= seconds; next = next.Add(batch) {
		for due := int(next.Sub(begin).Seconds() * rate); done < due; done++ {
			entry, blocked := sentinel.Entry("request", sentinel.WithTrafficType(base.Inbound))
			if blocked == nil {
				entry.Exit()
			}
		}
		time.Sleep(time.Until(next))
	}
	fmt.Printf("entries=%d\n", done)
	return nil
}

// start sets sentinel up with one flow rule; its other periodic collectors are off.
func start(cached bool) error {
	c := config.NewDefaultConfig()
	c.Sentinel.UseCacheTime = cached
	c.Sentinel.Stat.System.CollectIntervalMs = 0
	c.Sentinel.Stat.System.CollectLoadIntervalMs = 0
	c.Sentinel.Stat.System.CollectCpuIntervalMs = 0
	c.Sentinel.Stat.System.CollectMemoryIntervalMs = 0
	c.Sentinel.Log.Metric.FlushIntervalSec = 0
	c.Sentinel.Log.Dir = os.TempDir()
	if err := sentinel.InitWithConfig(c); err != nil {
		return err
	}
	_, err := flow.LoadRules([]*flow.Rule{{Resource: "request", Threshold: 1e9, TokenCalculateStrategy: flow.Direct,
		ControlBehavior: flow.Reject, StatIntervalInMs: 1000}})
	return err
}
