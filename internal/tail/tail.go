// Package tail says why the slow requests of a service are slow: it compares, within one recording,
// the slow requests of each kind with ordinary ones of the same kind, class of wait by class of
// wait.
//
//	kinds := tail.Summarize(rec)
//	result := tail.Explain(rec, tail.Options{Worst: 0.01})
//
// It refuses nothing: a recording without requests has no kinds, and one without slow requests no
// suspects.
package tail
