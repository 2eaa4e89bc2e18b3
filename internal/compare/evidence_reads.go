package compare

// CountOwnReads is how many block requests a run the target's own threads read by (tree only). The requests of a device
// are everybody's: on a busy host they hide that the target began to read.
const CountOwnReads = "block.reads.own"

func (c *counter) ownReads(side Side, at int, r *run) {
	for i := range r.rec.Block {
		if block := &r.rec.Block[i]; block.Target && block.Operation == "read" && plausible(block.Count) {
			c.plus(side, at, CountOwnReads, "", "requests/run", float64(block.Count))
		}
	}
}
