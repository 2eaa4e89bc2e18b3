package count

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"culprit/internal/probe/counters/event"
	"culprit/internal/stat"
)

func rowOf(key string, values ...float64) *Row {
	row := &Row{Key: key, Ran: 1}
	for _, value := range values {
		row.windows = append(row.windows, windows{{Value: value, Enabled: 10, Running: 10}})
	}
	return row
}

func valueOf(t *testing.T, row *Row) float64 {
	t.Helper()
	if row == nil {
		t.Fatal("the row is missing")
	}
	number, err := numberOf(row.windows[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	return number.Value
}

func TestNested(t *testing.T) {
	own := map[string]*Row{}
	for key, value := range map[string]float64{"/": 1, "/a": 10, "/a/b/c": 100, "/a/d": 1000, "/ab": 7, IdleKey: 5e6,
		"(removed 77)": 20} {
		own[key] = rowOf(key, value)
	}
	all := nested(own)
	for key, want := range map[string]float64{"/": 1138, "/a": 1110, "/a/b": 100, "/a/b/c": 100, "/a/d": 1000, "/ab": 7,
		IdleKey: 5e6, "(removed 77)": 20} {
		if got := valueOf(t, all[key]); got != want {
			t.Errorf("%s holds %v, want %v", key, got, want)
		}
	}
	if len(all) != 8 {
		t.Errorf("there are %d rows", len(all))
	}
	options := Options{By: ByCgroup, Events: event.List{{Name: "cs"}}}
	for key, want := range map[string]float64{"/a": 10, "/a/b": 0, "/": 1} {
		if err := all[key].finish(options, 0); err != nil || all[key].Own["cs"].Value != want {
			t.Errorf("%s alone: %+v, %v", key, all[key].Own, err)
		}
	}
	if err := all["/ab"].finish(options, 0); err != nil || all["/ab"].Own != nil {
		t.Errorf("nothing is below /ab: %+v, %v", all["/ab"].Own, err)
	}
}

// Those above a cgroup are in no wider interval than their parts, because windows of one reading
// are added up.
func TestNestedKeepsReadingsTogether(t *testing.T) {
	one, other := rowOf("/a/x"), rowOf("/a/y")
	low, high := stat.Observed{Value: 100, Enabled: 10, Running: 5}, stat.Observed{Value: 900, Enabled: 10, Running: 5}
	one.windows = []windows{{low, low, low, low}}
	other.windows = []windows{{{}, high, high, high}}
	sum := nested(map[string]*Row{"/a/x": one, "/a/y": other})["/a"]
	if got := valueOf(t, sum); math.Abs(got-(800+5400)) > 1e-9 || len(sum.windows[0]) != 4 {
		t.Errorf("%v of %+v", got, sum.windows)
	}
}

func TestWithin(t *testing.T) {
	for _, each := range []struct {
		key, above string
		want       bool
	}{{"/a", "/a", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/a", "/", true}, {"(idle)", "/", false}} {
		if within(each.key, each.above) != each.want {
			t.Errorf("%s within %s: %v", each.key, each.above, !each.want)
		}
	}
}

// Ratios are formed of events that were counted at the same times only.
func TestDerived(t *testing.T) {
	list := event.List{{Name: "cycles", Kind: event.Hardware, Group: 0},
		{Name: "instructions", Kind: event.Hardware, Group: 0},
		{Name: "branch-misses", Kind: event.Hardware, Group: -1}, {Name: "branches", Kind: event.Hardware, Group: -1}}
	row := rowOf("/", 1000, 2500, 10, 100)
	derived := derive(list, row, 0)
	if got := derived["ipc"]; got.Value != 2.5 || got.Low != 2.5 || got.Of != "instructions / cycles" {
		t.Errorf("ipc is %+v", got)
	}
	if got := derived["cpi"]; got.Value != 0.4 || derived["branch-miss-rate"].Value != 0.1 {
		t.Errorf("derived: %+v", derived)
	}
	// The two take turns: they have no ratio, and that is said.
	row.windows[2] = windows{{Value: 10, Enabled: 10, Running: 3}}
	row.windows[3] = windows{{Value: 100, Enabled: 10, Running: 7}}
	if got, found := derive(list, row, 0)["branch-miss-rate"]; found {
		t.Errorf("of different times: %+v", got)
	}
	apart := Apart(list, []string{"branches", "branch-misses"})
	if len(apart) != 1 || apart[0] != "branch-misses / branches" {
		t.Errorf("apart are %v", apart)
	}
	user := event.List{{Name: "cycles:u", Kind: event.Hardware}, {Name: "instructions", Kind: event.Hardware}}
	if got := derive(user, rowOf("/", 1, 2), 0); got != nil {
		t.Errorf("user's cycles of all instructions: %+v", got)
	}
}

// Where a maker computes the parts of the slots of several events, they add up to the whole, also
// with events that were counted for a part of the time, and the intervals hold that.
func TestTopDownShares(t *testing.T) {
	list, err := event.Parse("task-clock,cycles,topdown", zen4(t))
	if err != nil {
		t.Fatal(err)
	}
	// 6 slots in each of 1000 cycles: 3000 retired, 500 more dispatched, the rest not used.
	counted := map[string]float64{"cycles": 7, "cycles_not_in_halt": 1000, "retired_ops": 3000, "ops_dispatched": 3500,
		"dispatch_stalls_1.fe_no_ops": 700, "dispatch_stalls_1.be_stalls": 1500, "dispatch_stalls_1.smt_contention": 300}
	var values []float64
	for _, name := range list.Names() {
		values = append(values, counted[name])
	}
	row := rowOf("/", values...)
	whole := derive(list, row, 0)
	for name, want := range map[string]float64{"retiring": 3000, "bad-speculation": 500, "frontend-bound": 700,
		"backend-bound": 1500, "smt-contention": 300} {
		if got := whole[name]; math.Abs(got.Value-want/6000) > 1e-12 || got.Low != got.High || got.Of == "" {
			t.Errorf("%s is %+v", name, got)
		}
	}
	for i := range row.windows { // the group has a counter for half of the time, over a load that swings
		row.windows[i] = nil
		for at := range 10 {
			swing := 1 + 0.5*float64(at%3)
			row.windows[i] = append(row.windows[i], stat.Observed{Value: values[i] * swing, Enabled: 10, Running: 5})
		}
	}
	sum, low, high := 0.0, 0.0, 0.0
	for _, share := range derive(list, row, 0) {
		sum, low, high = sum+share.Value, low+share.Low, high+share.High
	}
	if math.Abs(sum-1) > 1e-9 || low > 1+1e-9 || high < 1-1e-9 {
		t.Errorf("the parts add up to %v (%v to %v)", sum, low, high)
	}
	for i := range list {
		if list[i].Name == "retired_ops" { // one that counted at other times has no part in it
			row.windows[i][3].Running = 4
		}
	}
	if got, found := derive(list, row, 0)["retiring"]; found {
		t.Errorf("of different times: %+v", got)
	}
}

// zen4 is a host of that CPU, as its kernel shows it.
func zen4(t *testing.T) event.Source {
	root := t.TempDir()
	const pmu = "sys/bus/event_source/devices/cpu/"
	for name, text := range map[string]string{pmu + "type": "4", pmu + "format/event": "config:0-7,32-35",
		pmu + "format/umask": "config:8-15",
		"proc/cpuinfo":       "vendor_id: AuthenticAMD\ncpu family: 25\nmodel: 17\nstepping: 1\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return event.Source{Root: root}
}

func TestPlansThatMakeNoSense(t *testing.T) {
	for want, options := range map[string]Options{
		`--by "kernel"`:   {By: "kernel"},
		"too short":       {By: ByCPU, Interval: time.Millisecond},
		"negative":        {By: ByCPU, Duration: -1},
		"cannot be mixed": {By: ByCPU, Pids: []int{1}},
		"by process":      {By: ByCgroup, Pids: []int{1}},
		"--own":           {By: ByThread, Own: true},
	} {
		if err := options.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

func sample() *Interval {
	row := rowOf("/we\"ird,\nname", 1000)
	options := Options{By: ByCgroup, Events: event.List{{Name: "cs"}}}
	row.Key = "/we\"ird,name"
	if err := row.finish(options, 0); err != nil {
		panic(err)
	}
	row.Derived = map[string]Derived{"ipc": {Interval: stat.Interval{Value: 1, Low: 0.5, High: 2},
		Of: "instructions / cycles"}}
	return &Interval{Begin: time.Unix(1, 5e8), Seconds: 1.5, By: ByCgroup, Events: []string{"cs"}, Rows: []Row{*row},
		Lost: map[string]int64{"rows that did not fit": 2}}
}

func TestEncodings(t *testing.T) {
	var text bytes.Buffer
	if err := WriteJSON(&text, sample()); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text.Bytes(), &got); err != nil || got["schema"] != Schema || got["by"] != "cgroup" ||
		got["key"] != "/we\"ird,name" || strings.Count(text.String(), "\n") != 1 {
		t.Errorf("%v, %v", got, err)
	}
	number := got["counts"].(map[string]any)["cs"].(map[string]any)
	if number["value"] != 1000.0 || number["scope"] != "per-cpu" || number["asleep"] != "stands still" {
		t.Errorf("number is %v", number)
	}
	text.Reset()
	if err := WriteCSV(&text, sample(), true); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(lines) != 3 || lines[1][3] != "/we\"ird,name" || lines[1][5] != "1000" || lines[2][4] != "ipc" {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestEndpoint(t *testing.T) {
	for address, want := range map[string]string{"0.0.0.0:0": "token", ":0": "token", "192.0.2.1:80": "token",
		"nonsense": "a port"} {
		if e, err := Listen(address, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", address, e, err)
		}
	}
	e, err := Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Add(sample())
	e.Add(sample())
	page, status := fetch(t, "http://"+e.Address()+"/metrics", nil)
	for _, want := range []string{
		`culprit_count_total{by="cgroup",key="/we\"ird,name",event="cs",scope="per-cpu",asleep="stands still"} 2000`,
		"culprit_count_seconds_total 3\n", `culprit_count_ratio{by="cgroup",key="/we\"ird,name",name="ipc"} 1`,
		`culprit_count_lost_total{what="rows that did not fit"} 2`, "# TYPE culprit_count_total counter"} {
		if status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%d, without %s:\n%s", status, want, page)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"another site's name": func(r *http.Request) { r.Host = "evil.example" },
		"another site's page": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"another way":         func(r *http.Request) { r.Method = http.MethodPost },
		"another page":        func(r *http.Request) { r.URL.Path = "/" },
	} {
		if _, status := fetch(t, "http://"+e.Address()+"/metrics", change); status < 400 {
			t.Errorf("%s: status %d", name, status)
		}
	}
}

func TestEndpointAsksForItsToken(t *testing.T) {
	e, err := Listen("127.0.0.1:0", "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, status := fetch(t, "http://"+e.Address()+"/metrics", nil); status != http.StatusUnauthorized {
		t.Errorf("without: %d", status)
	}
	with := func(r *http.Request) { r.Header.Set("Authorization", "Bearer 0123456789abcdef") }
	if _, status := fetch(t, "http://"+e.Address()+"/metrics", with); status != http.StatusOK {
		t.Errorf("with: %d", status)
	}
}

func fetch(t *testing.T, url string, change func(*http.Request)) (string, int) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(request)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), answer.StatusCode
}

// A thousand cgroups have a row each, and their parent holds the sum.
func TestAThousandCgroups(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("making a thousand cgroups needs root and seconds")
	}
	mount, err := Mount("")
	if err != nil {
		t.Skip(err)
	}
	parent := filepath.Join(mount, fmt.Sprintf("culprit-test-%d", os.Getpid()))
	if err := os.Mkdir(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	const groups = 1000
	var folders []string
	t.Cleanup(func() {
		for _, folder := range append(folders, parent) {
			for range 50 { // the last process may not be gone for good
				if os.Remove(folder) == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	})
	for i := range groups {
		folder := filepath.Join(parent, fmt.Sprintf("g%d", i))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	list, err := event.Parse("context-switches,task-clock", event.Host)
	if err != nil {
		t.Fatal(err)
	}
	session, err := Open(Options{By: ByCgroup, Events: list})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := session.Begin(); err != nil {
		t.Fatal(err)
	}
	runIn(t, folders)
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // now
	var interval *Interval
	if err := session.Run(ctx, func(i *Interval) error { interval = i; return nil }); err != nil {
		t.Fatal(err)
	}
	checkThousand(t, interval, filepath.Base(parent), groups)
}

// checkThousand holds the rows of so many cgroups below a parent to each other and to what the CPUs
// counted.
func checkThousand(t *testing.T, interval *Interval, parent string, groups int) {
	t.Helper()
	found, sum, whole := 0, 0.0, 0.0
	for _, row := range interval.Rows {
		below, inside := strings.CutPrefix(row.Key, "/"+parent)
		if inside && below == "" {
			whole = row.Counts["context-switches"].Value
		} else if inside {
			found++
			sum += row.Counts["context-switches"].Value
		}
	}
	// A process may run once only. Where the kernel shows no switch to it (seen here: up to 3 in
	// 10,000), that is counted and its cgroup has nothing.
	unseen := int(interval.Lost["switches that were not seen"])
	if found+unseen < groups || unseen > groups/100 || sum != whole || interval.Lost["rows that did not fit"] != 0 {
		t.Errorf("%d of %d cgroups; below %v, the parent %v; lost %v", found, groups, sum, whole, interval.Lost)
	}
	// The CPUs are read after the booking: in half a second that is more than the 0.1 % of
	// TestSumsEqualTheCPUs, which reads them on both sides of it.
	for name, share := range interval.Booked {
		if math.Abs(share-1) > 0.01 {
			t.Errorf("%s: booked %v of what the CPUs counted", name, share)
		}
	}
}

// runIn runs a program that ends at once in each cgroup.
func runIn(t *testing.T, folders []string) {
	t.Helper()
	work := make(chan string)
	var wait sync.WaitGroup
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for folder := range work {
				if err := runOne(folder); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for _, folder := range folders {
		work <- folder
	}
	close(work)
	wait.Wait()
}

func runOne(folder string) error {
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer opened.Close()
	command := exec.Command("/bin/true")
	command.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(opened.Fd())}
	return command.Run()
}
