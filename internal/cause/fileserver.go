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
var serveFiles = []string{"fuse_dev_", "nfsd_"}

// asksServer reports whether a path is at work, or waits, for a file that another process serves.
func asksServer(path *compare.Path) bool {
	return path.Kind != compare.Runnable && !code.InKernel(path.Frames, serveFiles...) &&
		(code.InKernel(path.Frames, askServer...) ||
			path.Kind == compare.Blocked && !path.Lock && code.InKernel(path.WakerStack, askServer...))
}

// fileServers are the processes that answer for files, by the name of the thread that answers: a
// wait too short for a stack in the kernel is known by who ended it.
func (s *scene) fileServers() map[string]bool {
	servers := map[string]bool{}
	for i := range s.paths {
		if path := &s.paths[i]; asksServer(path) && path.Kind == compare.Blocked && !path.WakerOwn &&
			path.WakerKind == recording.WakerThread {
			servers[path.WakerComm] = true
		}
	}
	return servers
}

// findFileServer claims what files take because another process serves them. Where more is asked of
// it and each answer takes as long, that is what changed.
func findFileServer(s *scene) []finding {
	servers := s.fileServers()
	answered := func(path *compare.Path) bool {
		return path.Kind == compare.Blocked && !path.WakerOwn && !path.Lock && servers[path.WakerComm]
	}
	return []finding{{cause: DownstreamSlow,
		match: func(i int) bool {
			return !s.traits[i].sync && (asksServer(&s.paths[i]) || answered(&s.paths[i]))
		},
		stands: func(c *claim) string {
			a, b := s.seconds(c)
			times := s.callCount(first(s.callsOf(c)))
			took := means(a, b)
			if !s.oneSided && times.grew(timesCalls, 1) && took.b*times.a <= timesLatency*took.a*times.b {
				return "it is asked more often, and each answer takes as long"
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
