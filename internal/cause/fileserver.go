package cause

import (
	"culprit/internal/code"
	"culprit/internal/compare"
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

// findFileServer claims what files take because another process serves them.
func findFileServer(s *scene) []finding {
	servers := s.outsidersIn(asksServer)
	return []finding{{cause: DownstreamSlow, stands: s.unlessMoreIsAsked, tell: s.describeFileServer,
		match: func(i int) bool {
			return !s.traits[i].sync && (asksServer(&s.paths[i]) || servers.ended(&s.paths[i]))
		}}}
}

func (s *scene) describeFileServer(c *claim) {
	c.claim = "files are served by another process, and the program waits for its answers"
	c.remedy = "look at that process; keep more of its answers (FUSE: attr_timeout, entry_timeout, kernel_cache; " +
		"NFS: actimeo), ask for more at once, or copy the files to a file system of the kernel's"
	s.tellAnswered(c)
	s.locateWait(c)
	functions := s.tally(c.members, func(i int) string { return code.KernelFunction(s.paths[i].Frames, askServer...) })
	for _, name := range most(functions, 1) {
		c.at(Place{Kind: InKernel, Name: name})
	}
}
