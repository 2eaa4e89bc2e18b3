package compare

import "culprit/recording"

// CountStrangersCPU is the CPU time of everybody on the host but the target (tree only), as far as it was sampled.
const CountStrangersCPU = "strangers.cpu"

// strangers adds what others took of the host's CPUs while the target ran.
func (c *counter) strangers(side Side, at int, r *run) {
	seconds := 0.0
	for i := range r.rec.Samples {
		sample := &r.rec.Samples[i]
		if sample.Signal == recording.SignalCPU && !sample.Target && plausible(sample.ValueNs) {
			seconds += float64(sample.ValueNs) / 1e9
		}
	}
	if seconds > 0 {
		c.plus(side, at, CountStrangersCPU, "", "s/run", seconds)
	}
}
