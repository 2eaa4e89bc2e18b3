/* Two processes that make and remove files in one folder, whose changes the file system has to write down at once: who
 * makes one waits for the journal while it holds the lock of the folder's inode, and the other one waits for that. */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_files(int rounds, int me)
{
	char name[16];
	snprintf(name, sizeof(name), "file%d", me);
	for (int i = 0; i < rounds; i++) {
		int file = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (file < 0 || close(file) || unlink(name))
			exit(2);
	}
}

int main(int argc, char **argv)
{
	int flags = 0, status = 0;
	if (argc != 3 || chdir(argv[1]))
		return 1;
	int folder = open(".", O_RDONLY);
	if (folder < 0 || ioctl(folder, FS_IOC_GETFLAGS, &flags))
		return 3;
	flags |= FS_DIRSYNC_FL;
	if (ioctl(folder, FS_IOC_SETFLAGS, &flags))
		return 3;
	pid_t child = fork();
	make_files(atoi(argv[2]), child == 0);
	if (child == 0)
		return 0;
	if (waitpid(child, &status, 0) != child || status)
		return 2;
	printf("parent %d\nchild %d\n", getpid(), child);
	return 0;
}
