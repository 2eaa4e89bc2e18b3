package knob

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// noLimit is how version 2 of cgroups writes that there is none.
const noLimit = "max"

// checkCount wants a number above 0, or no limit.
func checkCount(value string) (string, error) {
	if value == noLimit {
		return value, nil
	}
	number, err := strconv.ParseUint(value, 10, 63)
	if err != nil || number == 0 {
		return "", fmt.Errorf("a whole number above 0, or %s, is needed", noLimit)
	}
	return strconv.FormatUint(number, 10), nil
}

// checkBytes wants bytes, which may be written with K, M or G, and rounds them down to
// pages as the kernel does.
func checkBytes(value string) (string, error) {
	if value == noLimit {
		return value, nil
	}
	scale := uint64(1)
	text := strings.TrimSuffix(strings.ToUpper(value), "B")
	for i, unit := range []string{"K", "M", "G", "T"} {
		if shorter, found := strings.CutSuffix(text, unit); found {
			text, scale = shorter, 1<<(10*(i+1))
		}
	}
	number, err := strconv.ParseUint(text, 10, 63)
	if err != nil || number == 0 || number > 1<<62/scale {
		return "", fmt.Errorf("bytes such as 268435456 or 256M, or %s, are needed", noLimit)
	}
	page := uint64(os.Getpagesize())
	return strconv.FormatUint(number*scale/page*page, 10), nil
}

// canonBytes turns what version 1 shows for no limit, or accepts for it, into the word.
func canonBytes(value string) string {
	number, err := strconv.ParseInt(value, 10, 64)
	if err == nil && (number < 0 || number > 1<<62) {
		return noLimit
	}
	return value
}

// checkCPUMax wants "QUOTA PERIOD" in µs, or "max PERIOD"; the period may be left out.
func checkCPUMax(value string) (string, error) {
	fields := strings.Fields(value)
	if len(fields) == 1 {
		fields = append(fields, "100000")
	}
	wrong := errors.New("QUOTA and PERIOD in µs are needed, such as \"50000 100000\" for half a CPU, or max")
	if len(fields) != 2 {
		return "", wrong
	}
	period, err := strconv.Atoi(fields[1])
	if err != nil || period < 1000 || period > 1000000 {
		return "", wrong
	}
	if fields[0] != noLimit {
		if quota, err := strconv.ParseInt(fields[0], 10, 63); err != nil || quota < 1000 {
			return "", wrong
		}
	}
	return fields[0] + " " + fields[1], nil
}

func checkWeight(value string) (string, error) {
	number, err := strconv.Atoi(value)
	if err != nil || number < 1 || number > 10000 {
		return "", errors.New("a weight from 1 to 10000 is needed, 100 is usual")
	}
	return strconv.Itoa(number), nil
}
