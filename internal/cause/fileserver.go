package cause

import (
	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// askServer are kernel functions that ask a file system's server, and what the server's answer runs
// in: FUSE's, which were seen here, NFS', 9P's and SMB's by the kernel's sources.
var askServer = []string{"fuse_", "rpc_wait_bit", "rpc_run_task", "nfs_read", "nfs3_", "nfs4_", "p9_client_",
	"cifs_send_recv", "wait_for_response"}

// serveFiles are those that a server itself is in when it takes a question, or answers it.
var serveFiles = []string{"fuse_dev_read", "fuse_dev_do_read", "fuse_dev_write", "fuse_dev_do_write",
	"fuse_dev_splice", "fuse_dev_poll", "nfsd_"}

// asksServer reports whether a path is at work, or waits, for a file that another process serves.
func asksServer(path *compare.Path) bool {
	return path.Kind != compare.Runnable && !code.InKernel(path.Frames, serveFiles...) &&
		(code.InKernel(path.Frames, askServer...) ||
			path.Kind == compare.Blocked && !path.Lock && code.InKernel(path.WakerStack, askServer...))
}

// answered is who answers for files, by the name of the thread, and in which calls: a wait too
// short for a stack in the kernel is known by who ended it, and one too short even for that by its
// call. What a device ends is ended by an interrupt.
type answered struct{ by, in map[string]bool }

func (s *scene) fileServers() answered {
	servers := answered{map[string]bool{}, map[string]bool{}}
	for i := range s.paths {
		if path := &s.paths[i]; awaitsThread(path) && path.WakerComm != "" && asksServer(path) {
			servers.by[path.WakerComm], servers.in[path.Syscall] = true, true
		}
	}
	return servers
}

// awaitsThread reports whether a thread of another process ended a wait.
func awaitsThread(path *compare.Path) bool {
	return path.Kind == compare.Blocked && path.WakerKind == recording.WakerThread && !path.WakerOwn && !path.Lock
}

func (a answered) ended(path *compare.Path) bool {
	return awaitsThread(path) && (a.by[path.WakerComm] || path.WakerComm == "" && a.in[path.Syscall])
}

// findFileServer claims what files take because another process serves them. Where more is asked of
// it and each answer takes as long, that is what changed.
func findFileServer(s *scene) []finding {
	servers := s.fileServers()
	return []finding{{cause: DownstreamSlow,
		match: func(i int) bool {
			return !s.traits[i].sync && (asksServer(&s.paths[i]) || servers.ended(&s.paths[i]))
		},
		stands: func(c *claim) string {
			a, b := s.seconds(c)
			times := s.callCount(first(s.callsOf(c)))
			took := means(a, b)
			if !s.oneSided && times.more()*took.each(times).a >= majority*took.more() {
				return "it is asked more often, and each answer takes about as long"
			}
			return ""
		},
		tell: s.describeFileServer}}
}

func (s *scene) describeFileServer(c *claim) {
	c.claim = "files are served by another process, and the program waits for its answers"
	c.remedy = "look at that process; keep more of its answers (FUSE: attr_timeout, entry_timeout, kernel_cache; " +
		"NFS: actimeo), ask for more at once, or copy the files to a file system of the kernel's"
	waiting := func(i int) string {
		if path := &s.paths[i]; path.Kind == compare.Blocked && !path.WakerOwn {
			return path.WakerComm
		}
		return ""
	}
	servers := s.tally(c.members, waiting)
	for _, name := range most(servers, 1) {
		c.at(Place{Kind: InProcess, Role: AnsweredBy, Name: name})
		c.add("offcpu", "waited until "+name+" answered", sides{b: servers[name]}, "s/run")
	}
	s.locateWait(c)
	functions := s.tally(c.members, func(i int) string { return code.KernelFunction(s.paths[i].Frames, askServer...) })
	for _, name := range most(functions, 1) {
		c.at(Place{Kind: InKernel, Name: name})
	}
}
