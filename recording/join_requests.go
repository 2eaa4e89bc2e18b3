package recording

// requests joins the tables about requests; where no part has them the whole has none.
func (j *join) requests() error {
	there := false
	for _, p := range j.parts {
		err := p.read(func(from *archive) error {
			_, has := from.members[requestsTable+tableSuffix]
			there = there || has
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !there {
		return nil
	}
	for _, write := range []func() error{j.requestSums, j.services, j.slowRequests, j.requestParts} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func (j *join) requestSums() error {
	return stream(j, requestsTable, MaxEvidence, each(func(p *part, r *Request) {
		r.TimeNs += p.offsetNs
		if r.WatchedNs > 0 {
			r.WatchedAtNs += p.offsetNs
		}
	}),
		func(r *Request) int64 { return r.Count })
}

func (j *join) services() error {
	type key struct {
		side, service string
		pid           int32
	}
	return total(j, servicesTable, MaxEvidence, func(s *Service) key { return key{s.Side, s.Service, s.Pid} },
		asItIs[Service], func(whole, later *Service) {
			whole.Pushes += later.Pushes
			whole.Pipelined += later.Pipelined
			whole.Multiplexed += later.Multiplexed
			whole.InProgress, whole.OldestNs = later.InProgress, later.OldestNs // of the last part
		}, func(s *Service) int64 { return s.Pushes + s.Pipelined + s.Multiplexed })
}

// partIDs are those of requests of one part within the whole.
const partIDs = 1 << 32

func (j *join) slowRequests() error {
	number := int64(-1)
	return stream(j, slowTable, MaxSlow, func(p *part, rows []SlowRequest) []SlowRequest {
		number++
		for i := range rows {
			rows[i].TimeNs += p.offsetNs
			rows[i].ID += number * partIDs
		}
		return rows
	}, func(s *SlowRequest) int64 { return s.LatencyNs })
}

func (j *join) requestParts() error {
	number := int64(-1)
	return stream(j, partsTable, MaxWaits, func(p *part, rows []RequestPart) []RequestPart {
		number++
		for i := range rows {
			row := &rows[i]
			row.TimeNs += p.offsetNs
			row.Request += number * partIDs
			if row.Behind != 0 {
				row.Behind += number * partIDs
			}
			p.stack(&row.Stack)
			p.stack(&row.WakerStack)
			p.stack(&row.HopStack)
		}
		return rows
	}, func(r *RequestPart) int64 { return r.LengthNs })
}
