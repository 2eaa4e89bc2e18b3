package code

import "culprit/recording"

var (
	// collectorNames are parts of the names of functions that collect garbage.
	collectorNames = words(
		// Go 1.5 to 1.26
		`runtime.gcBgMarkWorker runtime.gcDrain runtime.gcAssist runtime.bgsweep runtime.gcStart
		runtime.gcMark runtime.(*sweepLocked) runtime.bgscavenge`,
		// CPython 3.8 to 3.14
		`gc_collect_main gc_collect_generations _PyGC_Collect`,
		// V8 of Node 12 to 24
		`v8::internal::Scavenger v8::internal::MarkCompact v8::internal::ConcurrentMarking
		v8::internal::Heap::CollectGarbage v8::internal::Heap::PerformGarbage`,
		// HotSpot of JDK 8 to 25. It collects on its VM thread where the collector has no threads
		// of its own.
		`G1CollectedHeap::do_collection GangWorker:: WorkerThread::run G1ConcurrentMark ParallelGC
		ShenandoahHeap ZDriver ZMark ZRelocate VM_GenCollect VM_CollectFor VM_GC_ VM_G1 VM_Parallel
		VM_Serial MarkSweep:: SerialFullGC DefNewGeneration:: GenCollectedHeap:: SerialHeap::collect
		SerialHeap::do_ PSScavenge PSParallelCompact TenuredGeneration::`,
		// PHP 7 and 8
		`zend_gc_collect_cycles zend_gc_run`,
	)
	// rubyCollector is the unwinder's name for it, by the state of the interpreter: a stripped
	// libruby has none.
	rubyCollector = "(garbage collection)"
	// collectorComms are parts of the names of HotSpot's threads.
	collectorComms = []string{"GC Thread#", "G1 Main", "G1 Conc#", "G1 Refine#", "G1 Service",
		"ZWorker", "ZDriver", "Shenandoah", "ParallelGCThread"}
)

// Collects tells a function of a run time that collects garbage: what stands below it is the
// collector's.
func Collects(function string) bool {
	return function == rubyCollector || containsAny(function, collectorNames)
}

// IsCollector tells a thread that does nothing but collect garbage by its name.
func IsCollector(comm string) bool { return containsAny(comm, collectorComms) }

// requestNames are the functions by which a program asks for a collection itself, in full: what
// needs memory starts one by others. CPython's and V8's have names only where the interpreter keeps
// its symbols.
var requestNames = wordSet(`JVM_GC gc_collect gc_collect_impl runtime.GC
	runtime/debug.FreeOSMemory runtime/debug.freeOSMemory`)

// AsksToCollect tells a function by which a program asks for a collection.
func AsksToCollect(frame recording.Frame) bool {
	return requestNames[frame.Name] || beginsWithAny(frame.Name, []string{"v8::internal::GCExtension::GC"})
}
