package record

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// asker is a client that takes the time of an answer from its socket: when the kernel got it.
type asker struct {
	connection *net.TCPConn
	answer     [4096]byte
	control    [256]byte
}

func newAsker(t *testing.T, port int) *asker {
	t.Helper()
	dialled, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	a := &asker{connection: dialled.(*net.TCPConn)}
	raw, err := a.connection.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
	})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	return a
}

// answered is how long an answer took, at least and at most: from when the server's kernel got the
// request until its program began to answer, as that program says; and from before the client sent
// it until the client's kernel had the answer. On a busy host each step between these waits for a
// CPU.
type answered [2]time.Duration

// ask sends a request and awaits its answer.
func (a *asker) ask(path string) (took answered, err error) {
	began := time.Now().Round(0)
	if _, err := fmt.Fprintf(a.connection, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		return took, err
	}
	for have := 0; ; {
		length, at, err := a.receive(a.answer[have:])
		if err != nil {
			return took, err
		}
		have += length
		head := bytes.Index(a.answer[:have], []byte("\r\n\r\n"))
		if head >= 0 && have >= head+4+2 { // every body has two bytes
			served, err := tookHeader(a.answer[:head])
			return answered{served, at.Sub(began)}, err
		}
	}
}

// tookHeader is how long the server says that it took; 0: it does not.
func tookHeader(head []byte) (time.Duration, error) {
	_, value, said := bytes.Cut(head, []byte("X-Took: "))
	if !said {
		return 0, nil
	}
	value, _, _ = bytes.Cut(value, []byte("\r\n"))
	took, err := strconv.ParseInt(string(value), 10, 64)
	return time.Duration(took), err
}

func (a *asker) receive(into []byte) (length int, at time.Time, err error) {
	raw, err := a.connection.SyscallConn()
	if err != nil {
		return 0, at, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		var control int
		length, control, _, _, failed = unix.Recvmsg(int(fd), into, a.control[:], unix.MSG_DONTWAIT)
		if failed == unix.EAGAIN {
			return false
		}
		messages, _ := unix.ParseSocketControlMessage(a.control[:max(control, 0)])
		for _, message := range messages {
			if message.Header.Type == unix.SO_TIMESTAMPNS_NEW {
				stamp := (*unix.Timespec)(unsafe.Pointer(unsafe.SliceData(message.Data)))
				at = time.Unix(stamp.Sec, stamp.Nsec)
			}
		}
		return true
	})
	if err == nil {
		err = failed
	}
	if err == nil && length == 0 {
		err = io.ErrUnexpectedEOF
	}
	if at.IsZero() { // the kernel begins to take times a moment after it is asked to
		at = time.Now().Round(0)
	}
	return length, at, err
}

// askAll sends so many requests for each path over connections of their own, and returns what each
// took.
func askAll(t *testing.T, port, connections, count int, paths ...string) map[string][]answered {
	t.Helper()
	took := map[string][]answered{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, path := range paths {
		for range connections {
			a := newAsker(t, port)
			all.Go(func() {
				defer a.connection.Close()
				var mine []answered
				for range count / connections {
					length, err := a.ask(path)
					if err != nil {
						t.Error(err)
						return
					}
					mine = append(mine, length)
				}
				mu.Lock()
				defer mu.Unlock()
				took[path] = append(took[path], mine...)
			})
		}
	}
	all.Wait()
	return took
}

// freePort is one that nobody listens at.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// awaitPort returns when somebody listens.
func awaitPort(t *testing.T, port int) {
	t.Helper()
	for range 500 {
		if connection, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			connection.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("nobody listens at %d", port)
}

// kindOf adds up the rows of a kind.
func kindOf(rec *recording.Recording, side, kind string) (sum recording.Request, latencies []int64) {
	for _, row := range rec.Requests {
		if row.Side != side || row.Kind != kind {
			continue
		}
		sum.Service, sum.Protocol = row.Service, row.Protocol
		sum.Count += row.Count
		sum.Errors += row.Errors
		sum.TotalNs += row.TotalNs
		sum.WaitNs += row.WaitNs
		sum.UploadNs += row.UploadNs
		sum.ServeNs += row.ServeNs
		sum.AnswerNs += row.AnswerNs
		sum.UnsentNs += row.UnsentNs
		sum.SleepNs += row.SleepNs
		sum.LockNs += row.LockNs
		sum.QueuedNs += row.QueuedNs
		sum.Unfollowed += row.Unfollowed
		for i, bucket := range row.Buckets {
			low, high := recording.LatencyOf(bucket)
			for range row.Counts[i] {
				latencies = append(latencies, (low+high)/2)
			}
		}
	}
	slices.Sort(latencies)
	return sum, latencies
}

// What a server's sockets show is what its clients' sockets saw, by kind, and the threads' waits
// are in it.
func TestRequestsAgainstClients(t *testing.T) { bothWays(t, checkAgainstClients) }

func checkAgainstClients(t *testing.T, options Options) {
	const connections, count = 2, 300
	recorder := start(t, options)
	port := freePort(t)
	server := running(t, programs.compile(t, "serve.c"), strconv.Itoa(port))
	awaitPort(t, port)
	if err := recorder.Begin(t.Context(), Target{Kind: "pid", Pid: server.pid()}); err != nil {
		t.Fatal(err)
	}
	truth := askAll(t, port, connections, count, "/sleep/17?q=1", "/lock/aa31b0c2d4", "/timed/4", "/late", "/wrong")
	time.Sleep(20 * time.Millisecond)
	got := endWindow(t, recorder)
	got.lossless(t, "requests")
	for path, kind := range map[string]string{"/sleep/17?q=1": "GET /sleep/#", "/lock/aa31b0c2d4": "GET /lock/#",
		"/timed/4": "GET /timed/#", "/late": "GET /late", "/wrong": "GET /wrong"} {
		sum, latencies := kindOf(got.Recording, recording.SideServer, kind)
		if sum.Count != count || sum.Protocol != "http" || sum.Service != fmt.Sprintf("tcp port %d", port) {
			t.Errorf("%s: %d requests of %s at %q, the truth is %d", kind, sum.Count, sum.Protocol, sum.Service, count)
			continue
		}
		checkQuantiles(t, kind, latencies, truth[path])
		if parts := sum.WaitNs + sum.UploadNs + sum.ServeNs + sum.AnswerNs; parts != sum.TotalNs {
			t.Errorf("%s: the parts are %d ns, the whole %d", kind, parts, sum.TotalNs)
		}
	}
	checkClasses(t, got.Recording, count)
	checkWhole(t, got.Recording)
}

// checkQuantiles allows 3 %, the way of a request through the kernel up to its socket, and the
// server's way back from its call: it may lose its CPU to the client there. One request that lost
// it for longer moves all others by one place.
func checkQuantiles(t *testing.T, kind string, latencies []int64, truth []answered) {
	t.Helper()
	const part, in, back = 0.03, 20e3, 150e3
	least, most := make([]time.Duration, len(truth)), make([]time.Duration, len(truth))
	for i, took := range truth {
		least[i], most[i] = took[0], took[1]
	}
	slices.Sort(least)
	slices.Sort(most)
	for _, q := range []float64{0.5, 0.9, 0.99} {
		at := int(q * float64(len(truth)-1))
		got, from, to := float64(latencies[at]), least[at-1], most[min(at+1, len(truth)-1)]
		if from == 0 || got < float64(from)*(1-part)-in || got > float64(to)*(1+part)+back {
			t.Errorf("%s at %g: %.0f ns, the truth lies between %d and %d", kind, q, got, from, to)
		}
	}
}

// checkClasses holds what the server's program says to what its threads were seen to do.
func checkClasses(t *testing.T, rec *recording.Recording, count int) {
	t.Helper()
	sleep, _ := kindOf(rec, recording.SideServer, "GET /sleep/#")
	timed, _ := kindOf(rec, recording.SideServer, "GET /timed/#") // a wait for a futex that a timer ends is no lock's
	// A sleep of 3 ms lasts that long or, on a busy host, longer; its request does nothing else but
	// wait for a CPU. What waits until a time that it has worked out sleeps less where its CPU was
	// taken away in between, also by the hypervisor, which no thread's account tells.
	for _, nap := range []struct {
		kind          string
		request       recording.Request
		least, beside float64
	}{{"sleep", sleep, 0.98, 0.1}, {"timed", timed, 0.8, 0.2}} {
		slept, served := float64(nap.request.SleepNs), float64(nap.request.ServeNs)
		if slept < nap.least*float64(count)*3e6 || slept > served {
			t.Errorf("%s: slept %.0f ns of %.0f, %d times 3 ms", nap.kind, slept, served, count)
		}
		about(t, nap.kind+": sleep and CPU queue", slept+float64(nap.request.QueuedNs), served, nap.beside, 0)
	}
	lock, _ := kindOf(rec, recording.SideServer, "GET /lock/#")
	// Where the thread that holds the lock gets no CPU, requests hardly wait for it: what they take
	// beside is 10 µs each.
	about(t, "lock and CPU queue", float64(lock.LockNs+lock.QueuedNs), float64(lock.ServeNs), 0.2, float64(count)*20e3)
	late, _ := kindOf(rec, recording.SideServer, "GET /late")
	about(t, "wait", float64(late.WaitNs), float64(late.TotalNs), 0.05, 0)
	if wrong, _ := kindOf(rec, recording.SideServer, "GET /wrong"); wrong.Errors != wrong.Count {
		t.Errorf("%d of %d answers of 503 are errors", wrong.Errors, wrong.Count)
	}
	if sleep.Unfollowed+lock.Unfollowed+late.Unfollowed > 0 {
		t.Error("a thread for each connection, and some requests could not be followed")
	}
}

// checkWhole holds that the parts of each request in full make up its latency.
func checkWhole(t *testing.T, rec *recording.Recording) {
	t.Helper()
	parts := map[int64]int64{}
	for _, part := range rec.RequestParts {
		parts[part.Request] += part.LengthNs
	}
	slow := 0
	for _, request := range rec.SlowRequests {
		if request.Slow {
			slow++
		}
		about(t, fmt.Sprintf("parts of request %d (%s)", request.ID, request.Kind), float64(parts[request.ID]),
			float64(request.LatencyNs), 0.05, 0)
	}
	if slow == 0 || len(rec.SlowRequests) < 100 {
		t.Errorf("%d requests in full, %d of them slow", len(rec.SlowRequests), slow)
	}
}
