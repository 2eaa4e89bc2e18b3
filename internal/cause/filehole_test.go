package cause

import "culprit/recording"

// holeSituations are reads of pages that no disk has, beside such as one has.
func holeSituations() []situation {
	const filling = inRead + "filemap_read;filemap_get_pages;page_cache_ra_order;"
	touching := map[string]float64{work: 200}
	holes := merged(touching, map[string]float64{
		filling + "read_pages;ext4_mpage_readpages;__pi_memset": 70,
		filling + "filemap_add_folio;__filemap_add_folio":       20,
	})
	faults := merged(touching, map[string]float64{
		inFault + "page_cache_ra_order;read_pages;ext4_mpage_readpages;__pi_memset": 90})
	asked := merged(holes, map[string]float64{
		filling + "read_pages;ext4_mpage_readpages;submit_bio_noacct": 60,
		filling + "filemap_add_folio;xas_store":                       60})
	waits := func(count int) []wait {
		return []wait{{count: count, ms: 1, call: "pread64", waker: recording.WakerInterrupt,
			stack: inRead + "filemap_read;filemap_get_pages;folio_wait_bit_common;io_schedule"}}
	}
	return []situation{
		{name: "holes are read, the map of which comes from the disk", metric: "cpu", a: plan{cpu: touching},
			b: plan{cpu: holes, waits: waits(1)}, cause: "code.added", place: "load", low: 0.9, high: 1, level: Explains},
		{name: "holes are touched through a mapping", metric: "cpu", a: plan{cpu: touching}, b: plan{cpu: faults},
			cause: "code.added", place: "scan", low: 0.9, high: 1, level: Explains},
		{name: "some holes in what is read from a disk that answers before it is waited for", metric: "cpu",
			a: plan{cpu: touching}, b: plan{cpu: asked},
			cause: "memory.page-in", place: "load;pread64", low: 0.6, high: 0.75, level: Explains},
		{name: "what is read is waited for, whoever hands the requests over", metric: "cpu",
			a: plan{cpu: touching}, b: plan{cpu: merged(touching, map[string]float64{
				filling + "filemap_add_folio;xas_store": 60}), waits: waits(40)},
			cause: "memory.page-in", place: "load;pread64", low: 0.9, high: 1, level: Explains},
	}
}
