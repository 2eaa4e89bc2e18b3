// Runs a program and ends it when it asks for a network socket.
//
//   usage: jail COMMAND [ARGUMENT…]
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void check_call(pid_t thread) {
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) == 0 && registers.orig_rax == SYS_socket &&
	    registers.rdi != 1) {
		fprintf(stderr, "jail: no network here\n");
		kill(thread, SIGKILL);
	}
}

int main(int argc, char **argv) {
	if (argc < 2) {
		fprintf(stderr, "usage: jail COMMAND [ARGUMENT...]\n");
		return 2;
	}
	pid_t child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execv(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	int status, first = 1, result = 1;
	pid_t thread;
	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		long forward = 0;
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (thread == child)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
			continue;
		}
		if (first) {
			ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
			       PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL);
			first = 0;
		} else if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			check_call(thread);
		} else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
			forward = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, thread, NULL, forward);
	}
	return result;
}
