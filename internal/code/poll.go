package code

// Polls reports whether a system call waits for any of several descriptors, for a limited time.
func Polls(call string) bool {
	switch call {
	case "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6":
		return true
	}
	return false
}
