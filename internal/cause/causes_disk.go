package cause

// Causes of block devices, and what recognises them.
const (
	DiskSlow      ID = "disk.slow"
	DiskThrottled ID = "disk.throttled"

	ruleSlowDisk Rule = "slow device"
	ruleIOLimit  Rule = "limit of I/O"
)

func diskSlow() Cause {
	return Cause{ID: DiskSlow,
		Claim: "the device itself takes long",
		Example: "a catalogue lies on a disk that answers 350 reads a second: 12.5 times the wall " +
			"time, as many requests, each of them longer on the device (slowdisk-lookup-go)",
		Evidence:   "block I/O latency per device, queue depth",
		Proof:      "another device",
		Remedy:     "a faster device, or fewer and larger requests",
		Gain:       "the device stays that fast: less load of others may pass, so look again at another time",
		MistakenAs: "disk.throttled",
		Recognise: []recogniser{
			{ruleSlowDisk, findSlowDisk, []deference{
				watched,
				{[]Rule{ruleIOLimit}, "a request that is held back waits before the device sees it"},
			}},
		},
	}
}

func diskThrottled() Cause {
	return Cause{ID: DiskThrottled,
		Claim: "a cgroup limit holds the I/O back",
		Example: "a backup's cgroup may write 17 MB a second: 5.5 times the wall time; I/O that the " +
			"limit holds back before the device sees it (disklimit-backup-rust)",
		Evidence: "blkio or io limits in the facts; throttle waits",
		Proof:    "lift the limit",
		Flips: []Flip{{Way: BySetting, What: "cgroup.io", Exact: true,
			Text: "lift the rate that its cgroup may use of a device"}},
		Remedy:     "raise the limit or spread the I/O",
		Gain:       "the limit stays lifted, or the I/O below it under full load as well",
		MistakenAs: "disk.slow",
		Recognise:  []recogniser{{ruleIOLimit, findThrottledDisk, []deference{watched}}},
	}
}
