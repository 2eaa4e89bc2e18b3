package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/window"
)

// The hub is killed again and again while agents send; on a cluster a shard is, too.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills processes for seconds")
	}
	kill := func(t *testing.T, servers []*server, flags ...string) {
		all := fleetOf(t, 24, 10)
		p := newProcess(t, t.TempDir(), flags...)
		var sent atomic.Int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.sendAll(all, &sent)
		}()
		reach := func(count int) {
			for sent.Load() < int64(count) {
				time.Sleep(2 * time.Millisecond)
			}
		}
		for i := range 4 {
			reach((i + 1) * len(all) / 6)
			if i%2 == 1 && len(servers) > 0 {
				servers[i/2].kill()
				reach(int(sent.Load()) + 10) // what comes meanwhile is acknowledged, and waits
				servers[i/2].start()
				continue
			}
			p.kill()
			p.start()
		}
		<-done
		p.checkWhole(all)
		for _, one := range all[:30] {
			if status, text := p.send(one); status != http.StatusOK || !strings.Contains(text, `"known":true`) {
				t.Errorf("sent again: %d %s", status, text)
			}
		}
		p.checkWhole(all)
	}
	t.Run("duckdb", func(t *testing.T) { kill(t, nil) })
	t.Run("shards", func(t *testing.T) {
		servers, dsn := startServers(t, 2)
		kill(t, servers, "--dsn", dsn)
	})
}

// smallDisk mounts a file system of so many MB, and fills it but for one.
func smallDisk(t *testing.T, directory string, megabytes int) (empty func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	if testing.Short() {
		t.Skip("mounts file systems")
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(directory, syscall.MNT_DETACH) })
	return func() {
		if err := os.Remove(filepath.Join(directory, "filler")); err != nil {
			t.Error(err)
		}
	}
}

// fillDisk leaves about so many KB.
func fillDisk(t *testing.T, directory string, leave int64) {
	t.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(directory, &disk); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(directory, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := io.CopyN(file, zeros{}, int64(disk.Bavail)*disk.Bsize-leave<<10); err != nil {
		t.Fatal(err)
	}
}

type zeros struct{}

func (zeros) Read(into []byte) (int, error) {
	clear(into)
	return len(into), nil
}

// With a full disk a hub acknowledges nothing that it cannot keep, and goes on by itself when there
// is room.
func TestTheHubsDiskIsFull(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "small")
	empty := smallDisk(t, directory, 40)
	p := newProcess(t, directory)
	all := fleetOf(t, 16, 24)
	var sent atomic.Int64
	p.sendAll(all[:100], &sent)
	fillDisk(t, directory, 300)
	refused, taken := 0, all[:100]
	for _, one := range all[100:300] {
		status, text := p.send(one)
		switch {
		case status == http.StatusOK:
			taken = append(taken[:len(taken):len(taken)], one)
		case !strings.Contains(text, `"again":true`):
			t.Errorf("status %d: %s", status, text)
		default:
			refused++
		}
	}
	if refused == 0 {
		t.Error("nothing was refused on a disk without room")
	}
	empty()
	p.checkWhole(taken)
	p.sendAll(all, &sent)
	p.checkWhole(all)
}

// Where a shard has no room its windows wait with the hub.
func TestAShardsDiskIsFull(t *testing.T) {
	t.Parallel()
	servers, dsn := startServers(t, 2)
	small := servers[1]
	small.kill()
	data := filepath.Join(small.directory, "data")
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	empty := smallDisk(t, data, 48)
	small.start()
	small.wait()
	p := newProcess(t, t.TempDir(), "--dsn", dsn)
	all := fleetOf(t, 16, 12)
	var sent atomic.Int64
	p.sendAll(all[:60], &sent)
	fillDisk(t, data, 16)
	p.sendAll(all[60:], &sent)
	found, err := p.ask(ask.Top)
	if err != nil || !strings.Contains(strings.Join(found.Incomplete, ""), "wait for shard 2") {
		t.Errorf("%+v, %v", found, err)
	}
	empty()
	p.checkWhole(all)
}

// Ten thousand connections that say nothing, readers that do not read and senders that do not go on
// keep nobody out.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 10,000 connections")
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 11000 {
		t.Skipf("no more than %d files may be open here", limit.Cur)
	}
	p := newProcess(t, t.TempDir())
	all := fleetOf(t, 4, 6)
	var sent atomic.Int64
	p.sendAll(all[:12], &sent)
	dial := func() net.Conn {
		connection, err := net.DialTimeout("tcp", p.address, 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		return connection
	}
	for range 10000 {
		dial()
	}
	for range 60 { // each of one place of the token
		fmt.Fprintf(dial(), "PUT %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100000\r\n\r\n{",
			window.Path(all[0].w.Content), p.tokens["write"])
	}
	for range 100 {
		fmt.Fprintf(dial(), "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
			window.Path(all[0].w.Content), p.tokens["read"])
	}
	start := time.Now()
	p.sendAll(all, &sent)
	p.checkWhole(all)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("that took %s", took)
	}
}

// The agent is killed, its hub goes away, and every window that it wrote comes to the hub once.
func TestAgentToHub(t *testing.T) {
	t.Parallel()
	if testing.Short() || os.Getuid() != 0 {
		t.Skip("runs an agent, which needs root, for half a minute")
	}
	culprit := builtCulprit(t)
	p := newProcess(t, t.TempDir())
	folder := t.TempDir()
	token := filepath.Join(folder, "token")
	if err := os.WriteFile(token, []byte(p.tokens["write"]), 0o600); err != nil {
		t.Fatal(err)
	}
	windows := filepath.Join(folder, "windows")
	start := func() *exec.Cmd {
		agent := exec.Command(culprit, "agent", "--dir", windows, "--every", "1s", "--full", "0", "--full-for", "0s",
			"--cost", "0", "--host", "h", "--hub", "http://"+p.address, "--token-file", token)
		agent.Stderr = os.Stderr
		agent.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := agent.Start(); err != nil {
			t.Fatal(err)
		}
		return agent
	}
	kept := func() int {
		found, _ := filepath.Glob(filepath.Join(p.directory, "tenants/default/raw/*/*"+window.RecordingSuffix))
		return len(found)
	}
	until := func(count int) {
		t.Helper()
		for range 1000 {
			if kept() >= count {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("the hub has %d windows, not %d: %s", kept(), count, p.said)
	}
	agent := start()
	until(3)
	p.kill()
	time.Sleep(3 * time.Second) // windows wait with the agent
	agent.Process.Kill()
	agent.Wait()
	agent = start()
	p.start()
	until(8)
	agent.Process.Signal(os.Interrupt)
	agent.Wait()
	p.kill()
	checkSequence(t, p.directory)
}

// checkSequence fails where a window of the agent is there twice, or is missing and was not told
// of.
func checkSequence(t *testing.T, directory string) {
	t.Helper()
	engine, err := openDuck(t.Context(), filepath.Join(directory, "tenants/default"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	found, err := engine.QueryShard(t.Context(), 0, "SELECT sequence, dropped FROM windows ORDER BY sequence")
	if err != nil {
		t.Fatal(err)
	}
	last, missing, told := int64(0), int64(0), int64(0)
	for found.Next() {
		var sequence, dropped int64
		if err := found.Scan(&sequence, &dropped); err != nil {
			t.Fatal(err)
		}
		if sequence <= last {
			t.Errorf("window %d is there twice", sequence)
		}
		missing, told, last = missing+sequence-last-1, told+dropped, sequence
	}
	if missing > told {
		t.Errorf("%d windows are missing up to %d, %d were told of", missing, last, told)
	}
}
