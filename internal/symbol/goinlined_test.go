package symbol

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"testing"
)

func ownInlined(t *testing.T) *GoInlined {
	t.Helper()
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { own.Close() })
	inlined, err := OpenGoInlined(own)
	if err != nil {
		t.Fatal(err)
	}
	return inlined
}

// For addresses all over this program the tables say what the run time makes of them.
func TestGoInlinedAgainstTheRunTime(t *testing.T) {
	inlined := ownInlined(t)
	from := reflect.ValueOf(TestGoInlinedAgainstTheRunTime).Pointer()
	low, high := uintptr(inlined.text), from
	random, several := rand.New(rand.NewPCG(1, 2)), 0
	for range 3000 {
		pc := low + uintptr(random.Uint64N(uint64(high-low)))
		if runtime.FuncForPC(pc) == nil {
			continue
		}
		frame, _ := runtime.CallersFrames([]uintptr{pc + 1}).Next() // the innermost
		got := inlined.At(uint64(pc))
		if got == nil {
			if function := frame.Func; function == nil || function.Name() != frame.Function {
				t.Fatalf("%x: nothing is inlined there; %s is", pc, frame.Function)
			}
			continue
		}
		several++
		if wanted := (Source{frame.Function, frame.File, frame.Line}); got[0] != wanted || len(got) < 2 {
			t.Fatalf("%x: %+v, wanted %+v first", pc, got, Source{frame.Function, frame.File, frame.Line})
		}
	}
	if several < 100 {
		t.Errorf("%d addresses with something inlined: none to compare", several)
	}
}

func innermost(pcs []uintptr) int { return runtime.Callers(1, pcs) }

func between(pcs []uintptr) int { return innermost(pcs) }

// What is inlined in each other comes in that order.
func TestGoInlinedOrder(t *testing.T) {
	inlined := ownInlined(t)
	pcs := make([]uintptr, 4)
	between(pcs)
	got := inlined.At(uint64(pcs[0]) - 1)
	var names []string
	for _, source := range got {
		names = append(names, source.Function)
	}
	wanted := []string{"culprit/internal/symbol.innermost", "culprit/internal/symbol.between", ""}
	if !reflect.DeepEqual(names, wanted) {
		t.Errorf("%q, wanted %q", names, wanted)
	}
	if n := len(got) - 1; n > 0 && (got[n].Line == 0 || got[n].File != got[0].File) {
		t.Errorf("it is called at %+v", got[n])
	}
}

// A file is anything: it is refused, or tells what it will.
func TestGoInlinedHostile(t *testing.T) {
	if _, err := OpenGoInlined(bytes.NewReader(nil)); err == nil {
		t.Error("an empty file was taken")
	}
	if c, err := os.Open("/bin/true"); err == nil {
		defer c.Close()
		if _, err := OpenGoInlined(c); !errors.Is(err, ErrNoGoTable) {
			t.Errorf("a program in C: %v", err)
		}
	}
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	good, err := OpenGoInlined(bytes.NewReader(own))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	at, text := int(good.table.Offset), good.text
	for range 40 {
		for range 2000 {
			own[at+int(random.Uint64N(good.table.Size))] = byte(random.Uint32())
		}
		damaged, err := OpenGoInlined(bytes.NewReader(own))
		if err != nil {
			continue
		}
		for range 200 {
			damaged.At(text + random.Uint64N(1<<22))
		}
	}
}

func TestGoFunction(t *testing.T) {
	for name, wanted := range map[string]string{
		"main.add": "main.add",
		"slices.partitionCmpFunc[go.shape.struct { json.v reflect.Value; json.ks string }]": "slices.partitionCmpFunc[...]",
		"main.F[go.shape.int].func1":                "main.F[...].func1",
		"main.(*list[go.shape.[]string]).each":      "main.(*list[...]).each",
		"main.odd]name[":                            "main.odd]name[",
		"iter.Pull[go.shape.int,go.shape.[3]uint8]": "iter.Pull[...]",
	} {
		if got := GoFunction(name); got != wanted {
			t.Errorf("%s: %s, wanted %s", name, got, wanted)
		}
	}
}
