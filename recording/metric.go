package recording

// The metrics in seconds.
const (
	MetricWall = "wall" // from the start of the window to its end
	MetricCPU  = "cpu"  // on all CPUs, of the target
)

// The metrics that count work: what amounts of the recording may be divided by.
const (
	MetricRequests = "requests" // that were answered
	// MetricUsualSeconds are the seconds in which the target usually uses as much CPU time.
	MetricUsualSeconds = "usual_seconds"
)

// OfWork tells the metrics that are the time or the work of a recording, and nothing that it saw.
func OfWork(metric string) bool {
	return metric == MetricWall || metric == MetricCPU || metric == MetricRequests || metric == MetricUsualSeconds
}
