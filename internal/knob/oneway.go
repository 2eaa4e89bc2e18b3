package knob

import "errors"

// errOneWay says why a setting is no knob.
func refuseOneWay(name string, _ Target) (Knob, bool, error) {
	if reason, listed := oneWay[name]; listed {
		return Knob{}, true, errors.New(reason)
	}
	return Knob{}, false, nil
}

// oneWay are settings that cannot be put back once they are flipped.
var oneWay = map[string]string{
	"audit": "it cannot be flipped: once on, the kernel keeps its hooks in every system call until the next boot; " +
		"compare two hosts, or boot with audit=0",
}
