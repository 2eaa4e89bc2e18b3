package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"culprit/internal/investigate"
	"culprit/internal/trial"
)

// loadFlags is what may be typed about a load: for investigate, try and overhead.
type loadFlags struct {
	load   string
	ready  string
	warmUp string
	keep   bool
}

func (f *loadFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.load, "load", "",
		"the commands are servers: start each, put this command on it, stop it; {port} is a free port")
	flags.StringVar(&f.ready, "ready", "",
		"when a server is ready: a port that it listens on, or a command that succeeds then (default: it listens)")
	flags.StringVar(&f.warmUp, "warm-up", "",
		"put the load on a fresh server for this time, or so many requests, before it counts (default "+
			investigate.UsualWarmUp.String()+")")
	flags.BoolVar(&f.keep, "keep", false,
		"keep the servers up, and load them in turn (default: a fresh one for each trial)")
}

// plan resolves what was typed; nil without --load.
func (f *loadFlags) plan() (*trial.Load, error) {
	if f.load == "" {
		if f.ready != "" || f.warmUp != "" || f.keep {
			return nil, errors.New("--ready, --warm-up and --keep are about servers; give --load CMD as well")
		}
		return nil, nil
	}
	load := &trial.Load{Command: f.load, WarmUp: investigate.UsualWarmUp, Keep: f.keep}
	switch port, err := strconv.Atoi(f.ready); {
	case f.ready == "" || f.ready == "port":
	case err == nil && port > 0 && port < 1<<16:
		load.ReadyPort = port
	case err == nil:
		return nil, fmt.Errorf("--ready %d: no TCP port; give one from 1 to 65535, or a command", port)
	default:
		load.Ready = f.ready
	}
	if f.warmUp == "" {
		return load, nil
	}
	if requests, err := strconv.ParseFloat(f.warmUp, 64); err == nil {
		if !(requests >= 0) || math.IsInf(requests, 0) {
			return nil, fmt.Errorf("--warm-up %s: give a number of requests, a time such as 2s, or 0", f.warmUp)
		}
		load.WarmUp, load.WarmUpRequests = 0, requests
		return load, nil
	}
	length, err := time.ParseDuration(f.warmUp)
	if err != nil || length < 0 {
		return nil, fmt.Errorf("--warm-up %q: give a time such as 2s, a number of requests, or 0", f.warmUp)
	}
	load.WarmUp = length
	return load, nil
}
