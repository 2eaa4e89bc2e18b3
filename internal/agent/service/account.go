package service

import "culprit/recording"

// The metrics of a service, by the scheduler's own account of its threads: exact sums, whatever the
// rate of samples.
const (
	MetricRunqueue    = "offcpu.runqueue_ns" // runnable, without a CPU
	MetricBlocked     = "offcpu.blocked_ns"  // asleep or uninterruptible, of all threads together
	MetricVoluntary   = "switches.voluntary" // how often a thread blocked
	MetricInvoluntary = "switches.involuntary"
	MetricMigrations  = "migrations" // from one CPU to another
	MetricThreads     = "threads"
)

// account is what the threads of a service did.
type account struct {
	runqueueNs, blockedNs, voluntary, involuntary, migrations, threads int64
}

func (a *account) add(more account) {
	a.runqueueNs += more.runqueueNs
	a.blockedNs += more.blockedNs
	a.voluntary += more.voluntary
	a.involuntary += more.involuntary
	a.migrations += more.migrations
	a.threads += more.threads
}

// addThreads books the threads of a recording on the services of their processes.
func addThreads(of map[int32]*one, rec *recording.Recording) {
	for i := range rec.Threads {
		thread := &rec.Threads[i]
		s := of[thread.Pid]
		if s == nil || !recording.Plausible(thread.StartNs, thread.EndNs, thread.CPUNs, thread.RunqueueNs,
			thread.Voluntary, thread.Involuntary, thread.Migrations) {
			continue
		}
		end := thread.EndNs
		if end == 0 {
			end = rec.Manifest.WindowNs
		}
		s.account.add(account{runqueueNs: thread.RunqueueNs, voluntary: thread.Voluntary,
			blockedNs:   max(0, end-thread.StartNs-thread.CPUNs-thread.RunqueueNs),
			involuntary: thread.Involuntary, migrations: thread.Migrations, threads: 1})
	}
}

// metrics are those of a manifest; nil where no thread was seen.
func (a account) metrics() map[string]float64 {
	if a.threads == 0 {
		return nil
	}
	return map[string]float64{MetricRunqueue: float64(a.runqueueNs), MetricBlocked: float64(a.blockedNs),
		MetricVoluntary: float64(a.voluntary), MetricInvoluntary: float64(a.involuntary),
		MetricMigrations: float64(a.migrations), MetricThreads: float64(a.threads)}
}
