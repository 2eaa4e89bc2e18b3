package code

var (
	collectorNames = []string{"runtime.gcBgMarkWorker", "runtime.gcDrain", "runtime.gcAssist", "runtime.bgsweep",
		"runtime.gcStart", "runtime.gcMark", "runtime.(*sweepLocked)", "runtime.bgscavenge", "gc_collect_main",
		"gc_collect_generations",
		"_PyGC_Collect", "v8::internal::Scavenger", "v8::internal::MarkCompact", "v8::internal::ConcurrentMarking",
		"v8::internal::Heap::CollectGarbage", "v8::internal::Heap::PerformGarbage", "G1CollectedHeap::do_collection",
		"GangWorker::", "WorkerThread::run", "G1ConcurrentMark", "ParallelGC", "ShenandoahHeap", "ZDriver", "ZMark",
		"ZRelocate",
		// HotSpot collects on its VM thread where the collector has no threads of its own.
		"VM_GenCollect", "VM_CollectFor", "VM_GC_", "VM_G1", "VM_Parallel", "VM_Serial", "MarkSweep::", "SerialFullGC",
		"DefNewGeneration::", "GenCollectedHeap::", "SerialHeap::collect", "SerialHeap::do_", "PSScavenge",
		"PSParallelCompact", "TenuredGeneration::",
		// Ruby's has no names in a stripped libruby: the unwinder tells it by the state of the
		// interpreter.
		"(garbage collection)", "zend_gc_collect_cycles", "zend_gc_run"}
	collectorComms = []string{"GC Thread#", "G1 Main", "G1 Conc#", "G1 Refine#", "G1 Service", "ZWorker", "ZDriver",
		"Shenandoah", "ParallelGCThread"}
)

// Collects tells a function of a run time that collects garbage: what stands below it is the
// collector's.
func Collects(function string) bool { return containsAny(function, collectorNames) }

// IsCollector tells a thread that does nothing but collect garbage by its name.
func IsCollector(comm string) bool { return containsAny(comm, collectorComms) }
