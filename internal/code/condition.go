package code

import "culprit/recording"

// Condition is parts of the names of the functions in which a thread waits for a condition
// variable, and of those that wake all or one of its waiters. A wait ends with taking the
// condition's lock again (POSIX pthread_cond_wait, Java's Object.wait).
type Condition struct{ Wait, All, One []string }

// Conditions are those of the kinds of code that a program is written in: a run time builds its own
// locks and parking of the C library's conditions, so that these say nothing below a frame of
// another kind.
var Conditions = map[recording.FrameKind]Condition{
	recording.KindNative: {
		Wait: words(`pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait Condvar::wait`),
		All:  words(`pthread_cond_broadcast condition_variable::notify_all Condvar::notify_all`),
		One:  words(`pthread_cond_signal condition_variable::notify_one Condvar::notify_one`)},
	recording.KindJVM: {
		Wait: words(`Object.wait ObjectMonitor::wait ConditionObject.await`),
		All:  words(`Object.notifyAll JVM_MonitorNotifyAll ConditionObject.signalAll`),
		One:  words(`Object.notify JVM_MonitorNotify ConditionObject.signal`)},
	recording.KindPython: {Wait: words(`Condition.wait`), All: words(`Condition.notify_all`),
		One: words(`Condition.notify`)},
	recording.KindGo: {Wait: words(`sync.(*Cond).Wait`), All: words(`sync.(*Cond).Broadcast`),
		One: words(`sync.(*Cond).Signal`)},
}
