package host

import (
	"strconv"
	"strings"
)

const sectorBytes = 512 // the unit of /proc/diskstats on every device

// diskColumns of /proc/diskstats (Documentation/admin-guide/iostats.rst), counted from the name's.
var diskColumns = []struct {
	column int
	name   string
	unit   float64
}{
	{1, "disk.reads", 1}, {3, "disk.read_bytes", sectorBytes}, {4, "disk.read_s", 1e-3},
	{5, "disk.writes", 1}, {7, "disk.written_bytes", sectorBytes}, {8, "disk.write_s", 1e-3},
	{9, "disk.in_flight", 1}, {10, "disk.busy_s", 1e-3}, {11, "disk.weighted_s", 1e-3},
	{16, "disk.flushes", 1}, {17, "disk.flush_s", 1e-3},
}

// disks adds the counters of devices that have done anything.
func (meter *Meter) disks() {
	text, _ := meter.files.read("/proc/diskstats", fileLimit)
	devices := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 14 || devices == meteredDevices || words[3] == "0" && words[7] == "0" {
			continue
		}
		devices++
		for _, column := range diskColumns {
			if at := 2 + column.column; at < len(words) {
				meter.number(column.name, words[2], words[at], column.unit)
			}
		}
	}
}

// networkColumns of /proc/net/dev after the name of the interface.
var networkColumns = []struct {
	column int
	name   string
}{
	{0, "network.received_bytes"}, {1, "network.received_packets"}, {2, "network.received_errors"},
	{3, "network.received_drops"}, {8, "network.sent_bytes"}, {9, "network.sent_packets"},
	{10, "network.sent_errors"}, {11, "network.sent_drops"},
}

// tcpCounters are columns of /proc/net/snmp and /proc/net/netstat.
var tcpCounters = map[string]string{"Tcp.ActiveOpens": "tcp.active_opens", "Tcp.PassiveOpens": "tcp.passive_opens",
	"Tcp.AttemptFails": "tcp.failed_opens", "Tcp.EstabResets": "tcp.resets", "Tcp.CurrEstab": "tcp.established",
	"Tcp.InSegs": "tcp.received_segments", "Tcp.OutSegs": "tcp.sent_segments",
	"Tcp.RetransSegs": "tcp.retransmitted_segments", "Tcp.OutRsts": "tcp.sent_resets",
	"TcpExt.ListenOverflows": "tcp.listen_overflows", "TcpExt.ListenDrops": "tcp.listen_drops",
	"TcpExt.TCPTimeouts": "tcp.timeouts", "TcpExt.DelayedACKs": "tcp.delayed_acks",
	"TcpExt.TCPLossProbes": "tcp.loss_probes", "TcpExt.PruneCalled": "tcp.buffers_pruned",
	"Udp.RcvbufErrors": "udp.receive_buffer_errors"}

func (meter *Meter) network() {
	text, _ := meter.files.read("/proc/net/dev", fileLimit)
	interfaces := 0
	for line := range strings.Lines(text) {
		name, rest, found := strings.Cut(line, ":")
		words := strings.Fields(rest)
		if !found || len(words) < 12 || interfaces == meteredDevices {
			continue
		}
		interfaces++
		for _, column := range networkColumns {
			meter.number(column.name, strings.TrimSpace(name), words[column.column], 1)
		}
	}
	for _, file := range []string{"/proc/net/snmp", "/proc/net/netstat"} {
		meter.pairs(file)
	}
}

// pairs reads a file whose lines come in pairs: "Tcp: names" and "Tcp: values".
func (meter *Meter) pairs(file string) {
	text, _ := meter.files.read(file, fileLimit)
	var names []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(names) != len(words) || names[0] != words[0] {
			names = words
			continue
		}
		family := strings.TrimSuffix(words[0], ":")
		for i := 1; i < len(words); i++ {
			if name, wanted := tcpCounters[family+"."+names[i]]; wanted {
				meter.number(name, "", words[i], 1)
			}
		}
		names = nil
	}
}

// amount reads a number that is not negative; 0 when it is none.
func amount(text string) float64 {
	value, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0
	}
	return float64(value)
}
