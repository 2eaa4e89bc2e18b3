package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Load says how a server is put to work. In all three commands {port} is a free port that culprit
// chooses for each start of the server.
type Load struct {
	Command string `json:"command"` // for /bin/sh -c; when it ends, the run does
	// Ready is a command that succeeds when the server is ready; "": it listens, on {port} if its
	// command has that, else anywhere.
	Ready string `json:"ready,omitempty"`
	// ReadyPort is the port that the server listens on when it is ready; 0: see Ready.
	ReadyPort  int           `json:"ready_port,omitempty"`
	StartLimit time.Duration `json:"start_limit_ns,omitempty"` // until it must be ready; 0: UsualStartLimit
	// The load runs for so long, or until so many requests were answered, before it counts.
	WarmUp         time.Duration `json:"warm_up_ns,omitempty"`
	WarmUpRequests float64       `json:"warm_up_requests,omitempty"`
	// Keep leaves the server up after the run, for the next one of the same side and command. It is
	// stopped with the runner.
	Keep bool `json:"keep,omitempty"`

	// Begin is called right before the load, End right after it, while the server is up. Begin gets
	// the server's first process and the cgroup that holds all of it, "" where there is none; End
	// what was measured of the load.
	Begin func(pid int, cgroup string) error `json:"-"`
	End   func(run Run) error                `json:"-"`
}

// UsualStartLimit is enough for a Java service on a busy host; StopLimit is how long a server may
// take to end after SIGTERM, as with systemd, whose default of 90 s is for data bases with much to
// write.
const (
	UsualStartLimit = time.Minute
	StopLimit       = 20 * time.Second
)

// The metrics of a run under load, beside those that every run has and those that the load
// generator printed (load.Result.Metrics). MetricCPU is then the server's CPU time for one request
// where the number of requests is known.
const (
	MetricServerCPU  = "server_cpu"  // seconds, of the server while it was loaded
	MetricServerBusy = "server_busy" // part of the time that its busiest thread ran or waited for a CPU
	MetricLoadCPU    = "load_cpu"    // seconds, of the load generator
	MetricLoadBusy   = "load_busy"
	MetricRequests   = "requests"
	MetricThroughput = "throughput" // requests per second
	MetricLatency    = "latency"    // mean seconds
	UnitRequest      = "request"    // what MetricCPU is per where MetricRequests is known
)

// The metrics of a window of a service that runs already, where it makes enough read and write
// calls: how many in a second, and the CPU time for each.
const (
	MetricCalls      = "calls"
	MetricCPUPerCall = "cpu_per_call"
)

// loadMetrics are measured where a server is loaded; a printed metric may not take their names.
var loadMetrics = []string{MetricServerCPU, MetricServerBusy, MetricLoadCPU, MetricLoadBusy}

// portWord is what stands for the port in commands.
const portWord = "{port}"

// Check refuses a load that makes no sense.
func (l *Load) Check(server string) error {
	switch {
	case l == nil:
		return nil
	case strings.TrimSpace(l.Command) == "":
		return errors.New("the load is empty; give --load CMD")
	case l.WarmUp < 0 || l.WarmUpRequests < 0:
		return errors.New("warm-up: give a time such as 2s, a number of requests, or 0")
	case l.ReadyPort < 0 || l.ReadyPort > 65535:
		return fmt.Errorf("ready port %d: give one between 1 and 65535", l.ReadyPort)
	case strings.ContainsRune(l.Command+l.Ready, 0):
		return errors.New("the load holds a zero byte")
	case !strings.Contains(server, portWord) && strings.Contains(l.Command+l.Ready, portWord):
		return fmt.Errorf("the load goes to %s, but the server's command %q does not take it: put %s where it names its port",
			portWord, oneLine(server, maxShownCommand), portWord)
	}
	return nil
}

// fillPort puts a port into a command.
func fillPort(command string, port int) string {
	return strings.ReplaceAll(command, portWord, strconv.Itoa(port))
}

// The ports that are tried: below those that the kernel gives to clients by itself
// (net.ipv4.ip_local_port_range), so that none of the load's connections takes it first.
const (
	lowestPort  = 20000
	highestPort = 32000
)

// asStrictServers binds as a server that does not reuse addresses: it is refused a port of which a
// connection is in TIME_WAIT, such as one of an investigation that has just ended.
var asStrictServers = net.ListenConfig{Control: func(_, _ string, connection syscall.RawConn) error {
	var failed error
	err := connection.Control(func(descriptor uintptr) {
		failed = unix.SetsockoptInt(int(descriptor), unix.SOL_SOCKET, unix.SO_REUSEADDR, 0)
	})
	return errors.Join(err, failed)
}}

// freePort finds a port that nobody is bound to. Each start takes another one: a port whose
// connections have just ended cannot be bound again by every server.
func (r *Runner) freePort() (int, error) {
	for range highestPort - lowestPort {
		if r.port++; r.port < lowestPort || r.port > highestPort {
			r.port = lowestPort
		}
		listener, err := asStrictServers.Listen(context.Background(), "tcp", ":"+strconv.Itoa(r.port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("find a free port: %w", err)
		}
		return r.port, nil
	}
	return 0, fmt.Errorf("find a free port: none between %d and %d is free", lowestPort, highestPort)
}
