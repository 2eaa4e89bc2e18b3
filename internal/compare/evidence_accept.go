package compare

// CountListenDrops are connections a run that the kernel dropped because the queue of a listening socket was full
// (TcpExt ListenDrops): the client sends its first segment again after a second. They are the whole host's.
const CountListenDrops = "tcp.listen_drops"

func (c *counter) listenDrops(side Side, at int, r *run) {
	for _, dropped := range grownBy(r.rec, "tcp.listen_drops") {
		c.plus(side, at, CountListenDrops, "", "connections/run", dropped)
	}
}
