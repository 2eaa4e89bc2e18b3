package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
)

// call is one function that a place in a program calls, always from the same offset.
type call struct {
	text    []byte // as perf script prints the frame
	callees []*call
}

// program is a tree of calls, as deep and as bushy as the ones that servers have.
type program struct {
	comm  string
	pid   int
	roots []*call
}

// writeText writes about size bytes of what `perf script` prints for a recording
// with call graphs: the same bytes for the same seed. Names, depths and the part
// of samples in the kernel are like those of a busy host with Java, C++ and C.
func writeText(w io.Writer, size int64, seed uint64) (samples int, err error) {
	random := rand.New(rand.NewPCG(seed, 1))
	programs := []*program{
		newProgram(random, "java", 4242, 28, "/tmp/perf-4242.map", javaName),
		newProgram(random, "C2 CompilerThre", 4242, 18, "/usr/lib/jvm/lib/server/libjvm.so", cppName),
		newProgram(random, "nginx", 811, 14, "/usr/sbin/nginx", cName),
		newProgram(random, "kworker/u8:1-ev", 77, 8, "[kernel.kallsyms]", cName),
	}
	kernel := newProgram(random, "", 0, 12, "[kernel.kallsyms]", cName)
	out := bufio.NewWriterSize(w, 1<<20)
	var written int64
	timeNs := int64(2507_023279_000)
	var stack []*call
	for written < size {
		from := programs[random.IntN(len(programs))]
		timeNs += int64(random.IntN(2_000_000))
		n, err := fmt.Fprintf(out, "%s %d/%d [%03d] %d.%06d: %10d cycles:ppp: \n", from.comm, from.pid,
			from.pid+random.IntN(32), random.IntN(16), timeNs/1e9, timeNs/1000%1e6, 9_000_000+random.IntN(2_000_000))
		if err != nil {
			return samples, err
		}
		written += int64(n)
		stack = walk(random, from, stack[:0])
		if random.IntN(3) == 0 {
			stack = walk(random, kernel, stack)
		}
		for i := len(stack) - 1; i >= 0; i-- {
			if n, err = out.Write(stack[i].text); err != nil {
				return samples, err
			}
			written += int64(n)
		}
		if err := out.WriteByte('\n'); err != nil {
			return samples, err
		}
		written++
		samples++
	}
	return samples, out.Flush()
}

// walk goes down from a root to a leaf; the first callee of a place is the hot one.
func walk(random *rand.Rand, from *program, stack []*call) []*call {
	at := from.roots[random.IntN(len(from.roots))]
	for {
		stack = append(stack, at)
		if len(at.callees) == 0 {
			return stack
		}
		next := 0
		if random.IntN(2) == 0 {
			next = random.IntN(len(at.callees))
		}
		at = at.callees[next]
	}
}

// newProgram makes a tree whose branches get fewer with depth, so that leaves are some thousands.
func newProgram(random *rand.Rand, comm string, pid, depth int, file string, name func(*rand.Rand) string) *program {
	names := make([]string, 1500)
	for i := range names {
		names[i] = name(random)
	}
	high := uint64(0x55d0c8000000)
	if file == "[kernel.kallsyms]" {
		high = 0xffffffff81000000
	}
	left := 12_000
	var grow func(level int) *call
	grow = func(level int) *call {
		left--
		symbol := random.IntN(len(names))
		made := &call{text: fmt.Appendf(nil, "\t%16x %s+0x%x (%s)\n", high+uint64(symbol)<<12+uint64(random.IntN(4096)),
			names[symbol], random.IntN(4096), file)}
		if level == depth || left <= 0 && level > depth/2 {
			return made
		}
		for range 1 + random.IntN(3)*random.IntN(2) {
			made.callees = append(made.callees, grow(level+1))
		}
		return made
	}
	from := &program{comm: comm, pid: pid}
	for range 4 {
		from.roots = append(from.roots, grow(1))
	}
	return from
}

func pick(random *rand.Rand, words ...string) string { return words[random.IntN(len(words))] }

func cName(random *rand.Rand) string {
	return fmt.Sprintf("%s_%s_%s", pick(random, "ngx", "tcp", "ext4", "vfs", "sock", "page", "event", "http"),
		pick(random, "read", "write", "process", "alloc", "free", "handle", "get"), letters(random, 6))
}

func cppName(random *rand.Rand) string {
	return fmt.Sprintf("%s::%s<%s>::%s(%s*, int) const", pick(random, "std", "PhaseIdealLoop", "Compile", "Matcher"),
		letters(random, 8), pick(random, "char", "std::allocator<int>", "void (*)(Node*)"), letters(random, 9),
		pick(random, "Node", "Block", "LRG", "unsigned long"))
}

func javaName(random *rand.Rand) string {
	return fmt.Sprintf("L%s/%s/%s;::%s", pick(random, "java/util", "org/apache/cassandra/db", "io/netty/channel"),
		letters(random, 6), letters(random, 12), letters(random, 8))
}

func letters(random *rand.Rand, count int) string {
	text := make([]byte, count)
	for i := range text {
		text[i] = byte('a' + random.IntN(26))
	}
	return string(text)
}
