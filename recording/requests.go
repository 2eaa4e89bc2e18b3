package recording

import (
	"archive/zip"
	"cmp"
	"fmt"
)

// The tables of requests. They are there only in recordings that were asked for them.
const (
	requestsTable = "requests"
	servicesTable = "services"
	slowTable     = "slow_requests"
	partsTable    = "request_parts"
)

// The sides that requests are seen from.
const (
	SideServer = "server" // the target answers them
	SideClient = "client" // the target asks them of another: downstream
)

// RequestTables are about requests of services.
type RequestTables struct {
	// Requests has what is added up; nil where requests were not recorded.
	Requests []Request
	Services []Service
	// SlowRequests are those kept in full: the slow ones, and a random sample of the others.
	SlowRequests []SlowRequest
	RequestParts []RequestPart
}

// Request is what the requests of one kind were in one slice of time. Times are sums over its
// requests: wait, upload, serve and answer together are the whole of total.
type Request struct {
	TimeNs   int64  `parquet:"time_ns,delta"` // start of the slice
	LengthNs int64  `parquet:"length_ns"`     // of the slice
	Side     string `parquet:"side,dict"`
	Service  string `parquet:"service,dict"`  // "tcp port 8080", "unix /run/x"; of a client "tcp 10.0.0.1:5432"
	Protocol string `parquet:"protocol,dict"` // "http", "redis", …; "tls"; "" where the bytes tell none
	Kind     string `parquet:"kind,dict"`     // "GET /cart/#", "SET", "SELECT"; "" for none
	Pid      int32  `parquet:"pid"`           // of whom the service was first seen to be
	Comm     string `parquet:"comm,dict"`
	Count    int64  `parquet:"count"`
	Errors   int64  `parquet:"errors"` // answers that say so: a status of 500 and more, an error of the protocol
	BytesIn  int64  `parquet:"bytes_in"`
	BytesOut int64  `parquet:"bytes_out"`
	TotalNs  int64  `parquet:"total_ns"`
	WaitNs   int64  `parquet:"wait_ns"`            // data was there and nobody read it
	UploadNs int64  `parquet:"upload_ns"`          // from the first read to the last
	ServeNs  int64  `parquet:"serve_ns"`           // to the first byte of the answer
	AnswerNs int64  `parquet:"answer_ns"`          // to its last byte
	UnsentNs int64  `parquet:"unsent_ns,optional"` // beyond: in sockets, after the last call
	Spent
	// Handed are those that another thread answered than read them; Interleaved those whose thread
	// read others in between: what it waited for is shared by them; Unfollowed those of which is
	// not known when the thread that answered took them up: of their UnfollowedNs from the last
	// read to the end no class is known.
	Handed       int64 `parquet:"handed"`
	Interleaved  int64 `parquet:"interleaved"`
	Unfollowed   int64 `parquet:"unfollowed"`
	UnfollowedNs int64 `parquet:"unfollowed_ns"`
	// Buckets and Counts are the latencies: Counts[i] requests were in bucket Buckets[i], see
	// LatencyOf.
	Buckets []int32 `parquet:"buckets,list"`
	Counts  []int64 `parquet:"counts,list"`
	// Where requests were watched in slices of time (Manifest.Watched) the row is for the LengthNs
	// around one slice, and all its numbers are estimates. They are made of the Seen requests that
	// began and ended within the WatchedNs that were watched from WatchedAtNs on; of all three 0:
	// all of them were watched.
	Seen        int64 `parquet:"seen,optional"`
	WatchedAtNs int64 `parquet:"watched_at_ns,optional"`
	WatchedNs   int64 `parquet:"watched_ns,optional"`
}

// Spent is what the threads that served waited for between the first read and the last byte. What
// is left of that time they ran.
type Spent struct {
	HandoverNs int64 `parquet:"handover_ns"` // read by one thread and not yet taken up by the one that answers
	QueuedNs   int64 `parquet:"queued_ns"`   // runnable, without a CPU
	LockNs     int64 `parquet:"lock_ns"`     // asleep on a futex
	SleepNs    int64 `parquet:"sleep_ns"`    // nanosleep
	// DiskNs is uninterruptible within a system call: files, devices, locks of the kernel.
	DiskNs       int64 `parquet:"disk_ns"`
	FaultNs      int64 `parquet:"fault_ns"`      // asleep outside of a system call: page faults
	DownstreamNs int64 `parquet:"downstream_ns"` // for the answer of another service
	NetNs        int64 `parquet:"net_ns"`        // other sockets, pipes and polls
	OtherNs      int64 `parquet:"other_ns"`
}

// WaitedNs is the sum of all classes.
func (s *Spent) WaitedNs() int64 {
	return s.HandoverNs + s.QueuedNs + s.LockNs + s.SleepNs + s.DiskNs + s.FaultNs + s.DownstreamNs + s.NetNs + s.OtherNs
}

// PathNotSeen is the kind of requests of HTTP/2 whose connection had named their paths before it
// was watched.
const PathNotSeen = "(path not seen)"

// Service is what turns on its sockets do not tell.
type Service struct {
	Side        string `parquet:"side,dict"`
	Service     string `parquet:"service,dict"`
	Pid         int32  `parquet:"pid"`
	Comm        string `parquet:"comm,dict"`
	Pushes      int64  `parquet:"pushes"`      // sends that nobody had asked for
	Pipelined   int64  `parquet:"pipelined"`   // reads with several requests, which count as one
	Multiplexed int64  `parquet:"multiplexed"` // streams of HTTP/2 that could not be followed
	InProgress  int64  `parquet:"in_progress"` // read, not answered when the window ended
	OldestNs    int64  `parquet:"oldest_ns"`   // age of the oldest of these
}

// SlowRequest is one request in full.
type SlowRequest struct {
	ID        int64  `parquet:"id"`            // what RequestPart refers to; unique within the recording
	TimeNs    int64  `parquet:"time_ns,delta"` // its first data
	LatencyNs int64  `parquet:"latency_ns"`
	WaitNs    int64  `parquet:"wait_ns"`
	UploadNs  int64  `parquet:"upload_ns"`
	ServeNs   int64  `parquet:"serve_ns"`
	AnswerNs  int64  `parquet:"answer_ns"`
	UnsentNs  int64  `parquet:"unsent_ns,optional"`      // beyond: in the socket, after the last call
	UnsentBy  string `parquet:"unsent_by,optional,dict"` // why
	Service   string `parquet:"service,dict"`
	Protocol  string `parquet:"protocol,dict"`
	Kind      string `parquet:"kind,dict"`
	Pid       int32  `parquet:"pid"`
	Tid       int32  `parquet:"tid"`        // of the thread that read it
	WriterTid int32  `parquet:"writer_tid"` // of the one that answered
	Status    int32  `parquet:"status"`     // of HTTP; 0: not known
	Failed    bool   `parquet:"failed"`
	Slow      bool   `parquet:"slow"`   // over what was slow for its kind then; else one of the sample
	Weight    int64  `parquet:"weight"` // it stands for so many
	BytesIn   int64  `parquet:"bytes_in"`
	BytesOut  int64  `parquet:"bytes_out"`
	Spent
	// Downstream is the service that most of DownstreamNs was waited for.
	Downstream  string `parquet:"downstream,dict"`
	Interleaved bool   `parquet:"interleaved"`
	Unfollowed  bool   `parquet:"unfollowed"`
	InProgress  bool   `parquet:"in_progress"` // not answered when the window ended: LatencyNs is its age
	NoWait      bool   `parquet:"no_wait"`     // its wait before it was read was not seen
}

// The classes of parts.
const (
	PartCPU        = "cpu"    // on a CPU; Stack: what ran
	PartQueued     = "queued" // runnable, without a CPU; By: who had it, also the Hypervisor
	PartLock       = "lock"   // By: who ended it
	PartSleep      = "sleep"
	PartDisk       = "disk"
	PartFault      = "fault"
	PartDownstream = "downstream" // Where: the service
	PartNet        = "net"
	PartOther      = "other"
	PartHandover   = "handover" // within the program, to another thread or goroutine
	PartIdle       = "idle"     // before it was read: the thread that was to read it slept
	PartUpload     = "upload"   // the client had not sent all of it
	PartAnswer     = "answer"
	PartUnknown    = "unknown" // no thread is known
)

// Why the kernel keeps an answer back (UnsentBy).
const (
	UnsentSmall  = "small segment" // Nagle's algorithm or a cork waits for more of it, or for the client
	UnsentResent = "sent again"
	UnsentFull   = "window full" // the client takes no more, or the network
)

// RequestPart is a stretch of one request of the table slow_requests.
type RequestPart struct {
	Request  int64  `parquet:"request"` // ID
	TimeNs   int64  `parquet:"time_ns,delta"`
	LengthNs int64  `parquet:"length_ns"`
	Class    string `parquet:"class,dict"`
	// Before: it lay before the request was read; what ran or slept then is what the request waited
	// behind.
	Before bool  `parquet:"before"`
	Behind int64 `parquet:"behind"` // ID of another request that its thread was at; 0: none
	// Beside: another thread of the process had begun it before the request was read, which waited
	// meanwhile.
	Beside bool  `parquet:"beside,optional"`
	Tid    int32 `parquet:"tid"`
	Stack  int32 `parquet:"stack"` // NoStack where none was taken
	// Syscall, who ended the wait, what that one did, and who was before it: as in waits.
	Syscall    string `parquet:"syscall,dict"`
	Object     uint64 `parquet:"object"`
	Where      string `parquet:"where,dict"` // file or service, where known
	WakerKind  string `parquet:"waker_kind,dict"`
	WakerPid   int32  `parquet:"waker_pid"`
	WakerTid   int32  `parquet:"waker_tid"`
	WakerComm  string `parquet:"waker_comm,dict"`
	WakerStack int32  `parquet:"waker_stack"`
	RunnerComm string `parquet:"runner_comm,dict"` // who had the CPU
	HopNs      int64  `parquet:"hop_ns"`
	HopStack   int32  `parquet:"hop_stack"`
	HopComm    string `parquet:"hop_comm,dict"`
}

// StoodStill tells that the CPU stood still meanwhile: by the scheduler's account the thread ran.
func (p *RequestPart) StoodStill() bool { return p.Class == PartQueued && p.RunnerComm == Hypervisor }

// Latencies are counted in buckets whose width is a 32nd of their power of two.
const (
	latencySub     = 5
	LatencyBuckets = 37 << latencySub
)

// LatencyOf gives the bounds of a bucket in ns.
func LatencyOf(bucket int32) (low, high int64) {
	const subs = 1 << latencySub
	if bucket < subs {
		return int64(bucket), int64(bucket) + 1
	}
	log := bucket>>latencySub - 1
	low = (subs + int64(bucket&(subs-1))) << log
	return low, low + 1<<log
}

func (r *RequestTables) check(stacks func(int32) bool) error {
	for _, table := range []struct {
		name        string
		rows, limit int
	}{{requestsTable, len(r.Requests), MaxEvidence}, {servicesTable, len(r.Services), MaxEvidence},
		{slowTable, len(r.SlowRequests), MaxSlow}, {partsTable, len(r.RequestParts), MaxWaits}} {
		if table.rows > table.limit {
			return fmt.Errorf("table %s has %d rows, more than the limit of %d", table.name, table.rows, table.limit)
		}
	}
	for i := range r.Requests {
		row := &r.Requests[i]
		if len(row.Buckets) != len(row.Counts) || len(row.Buckets) > LatencyBuckets {
			return fmt.Errorf("request row %d has %d buckets and %d counts", i, len(row.Buckets), len(row.Counts))
		}
		for k, bucket := range row.Buckets {
			if bucket < 0 || bucket >= LatencyBuckets || row.Counts[k] < 0 {
				return fmt.Errorf("request row %d has %d requests in bucket %d", i, row.Counts[k], bucket)
			}
		}
	}
	for i := range r.RequestParts {
		part := &r.RequestParts[i]
		if !stacks(part.Stack) || !stacks(part.WakerStack) || !stacks(part.HopStack) {
			return fmt.Errorf("request part %d refers to stacks %d, %d and %d", i, part.Stack, part.WakerStack,
				part.HopStack)
		}
	}
	return nil
}

// reads are the tables of an archive that may have them.
func (r *RequestTables) reads(a *archive) []func() error {
	return []func() error{
		func() error { return readLater(a, requestsTable, MaxEvidence, &r.Requests) },
		func() error { return readLater(a, servicesTable, MaxEvidence, &r.Services) },
		func() error { return readLater(a, slowTable, MaxSlow, &r.SlowRequests) },
		func() error { return readLater(a, partsTable, MaxWaits, &r.RequestParts) },
	}
}

// isThere tells whether requests were recorded.
func (r *RequestTables) isThere() bool { return r.Requests != nil || r.Services != nil }

// Answering are the threads that read requests of the target, or write their answers, of those that
// were kept in full.
func (r *RequestTables) Answering() map[int32]bool {
	answering := map[int32]bool{}
	for i := range r.SlowRequests {
		answering[r.SlowRequests[i].Tid], answering[r.SlowRequests[i].WriterTid] = true, true
	}
	return answering
}

// isRequestTable tells the tables that a recording may lack.
func isRequestTable(name string) bool {
	return name == requestsTable || name == servicesTable || name == slowTable || name == partsTable
}

func (r *RequestTables) write(to *zip.Writer, codec *codec) error {
	return cmp.Or(writeTable(to, codec, requestsTable, r.Requests), writeTable(to, codec, servicesTable, r.Services),
		writeTable(to, codec, slowTable, r.SlowRequests), writeTable(to, codec, partsTable, r.RequestParts))
}
