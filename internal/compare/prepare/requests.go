package prepare

import "culprit/recording"

// slicesLeast is how many slices of the table of requests a part must hold at least: what lies
// across its edges is then a small part of it. Chosen.
const slicesLeast = 8

// cutRequests are the requests of a part: the slices whose middle lies in it; nil where it holds
// too few of them.
func cutRequests(rec *recording.Recording, fromNs, toNs int64) (rows []recording.Request) {
	longest := int64(0)
	for _, row := range rec.Requests {
		if !recording.Plausible(row.TimeNs, row.LengthNs) {
			continue
		}
		if middle := row.TimeNs + row.LengthNs/2; middle < fromNs || middle >= toNs {
			continue
		}
		longest = max(longest, row.LengthNs)
		row.TimeNs = max(0, row.TimeNs-fromNs)
		if row.WatchedNs > 0 {
			row.WatchedAtNs = max(0, row.WatchedAtNs-fromNs)
		}
		rows = append(rows, row)
	}
	if (toNs-fromNs)/slicesLeast < longest {
		return nil
	}
	return rows
}
