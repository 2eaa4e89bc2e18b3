package symbol

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program says where its variables lie in a thread that is not the first, and where that one's
// pointer is.
const threadLocalSource = `#include <pthread.h>
#include <stdio.h>
static __thread _Alignas(64) struct { long seen; int kinds[4]; } own;
__thread long total = 7;
static __thread char last[100];
static void *run(void *unused)
{
	printf("%lx %lx %lx %lx\n", (long)__builtin_thread_pointer(), (long)&own.kinds[1], (long)&total, (long)&last[99]);
	return unused;
}
int main(void)
{
	pthread_t thread;
	return pthread_create(&thread, 0, run, 0) || pthread_join(thread, 0);
}
`

// Variables that each thread has of its own have their names in the memory of any thread, by DWARF
// and by symbols.
func TestInThread(t *testing.T) {
	folder := t.TempDir()
	source, program := filepath.Join(folder, "own.c"), filepath.Join(folder, "own")
	if err := os.WriteFile(source, []byte(threadLocalSource), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, build := range []string{"gcc -O2 -g", "gcc -O0 -gdwarf-4", "gcc -O2 -g -no-pie", "clang-19 -O2 -g", "gcc -O2"} {
		words := strings.Fields(build)
		if !has(words[0]) {
			t.Log("no ", words[0])
			continue
		}
		run(t, words[0], append(words[1:], "-pthread", "-o", program, source)...)
		said, err := exec.Command(program).Output()
		if err != nil {
			t.Fatal(err)
		}
		var pointer, own, total, last uint64
		if _, err := fmt.Sscanf(string(said), "%x %x %x %x", &pointer, &own, &total, &last); err != nil {
			t.Fatalf("%s: %v", said, err)
		}
		v := openVariables(t, program)
		fields := strings.Contains(build, "-g")
		for _, one := range []struct {
			address uint64
			want    Member
		}{{own, Member{"own", ".kinds[1]"}}, {total, Member{"total", ""}}, {last, Member{"last", "[99]"}}} {
			if !fields {
				one.want.Field = ""
			}
			if found, ok := v.InThread(pointer, one.address, 1); !ok || found != one.want {
				t.Errorf("%s: %+v, %v, want %+v", build, found, ok, one.want)
			}
		}
		for _, none := range []uint64{pointer, pointer + 8, pointer - 4096, 0} {
			if found, ok := v.InThread(pointer, none, 8); ok {
				t.Errorf("%s: %#x is %+v", build, none-pointer, found)
			}
		}
	}
}
