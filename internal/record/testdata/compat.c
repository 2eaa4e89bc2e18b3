/* Makes N system calls as a 32-bit program does: half getpid (20), half one that does not exist (500).
 * Ends with 3 where the kernel does not take them. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static long call32(long number)
{
	__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
	return number;
}

static void refused(int signal)
{
	(void)signal;
	_exit(3);
}

int main(int argc, char **argv)
{
	signal(SIGSEGV, refused);
	long pid = getpid();
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i -= 2)
		if (call32(20) != pid || call32(500) != -38)
			return 1;
	return 0;
}
