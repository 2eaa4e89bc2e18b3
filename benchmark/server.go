package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"culprit/benchmark/peers"
)

const (
	redisPort     = "16399"
	redisRequests = 300_000
	hostWindow    = 10 * time.Second
)

var perSecond = regexp.MustCompile(`([0-9.]+) requests per second`)

// redis measures the throughput of a real server under its own load generator, as time per request.
func redis(out io.Writer, culprit, folder string, rounds int) error {
	if _, err := exec.LookPath("redis-server"); err != nil {
		fmt.Fprintln(out, "redis: not installed (apt-get install redis-server), left out")
		return nil
	}
	server := exec.Command("redis-server", "--port", redisPort, "--save", "", "--appendonly", "no",
		"--bind", "127.0.0.1", "--dir", folder)
	server.SysProcAttr = peers.EndsWithOwner()
	if err := server.Start(); err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	defer func() {
		_ = server.Process.Kill() // whether it still ran does not matter
		_ = server.Wait()
	}()
	if err := awaitPort("127.0.0.1:" + redisPort); err != nil {
		return err
	}
	pid := strconv.Itoa(server.Process.Pid)
	record := func(more ...string) []string {
		return append([]string{culprit, "record", "-f", "-d", "1m", "-o", filepath.Join(folder, "redis.culprit")}, more...)
	}
	tools := map[string][]string{
		"culprit record --light":  record("-p", pid, "--light"),
		"culprit record":          record("-p", pid),
		"perf record -a -g -F 99": {"perf", "record", "-a", "-g", "-F", "99", "-o", "FILE"},
	}
	settings := installed([]setting{alone, floor, {name: "culprit record --light"},
		{name: "culprit record", limit: 1.05}, {name: "perf record -a -g -F 99"}})
	cpu := map[string][]float64{}
	walls, err := interleave(settings, rounds, func(s setting) (float64, error) {
		if s.name == floor.name {
			detach, err := attachFloor()
			if err != nil {
				return 0, err
			}
			defer detach()
		}
		if tools[s.name] != nil {
			stop, err := startPeer(folder, server.Process.Pid, tools[s.name])
			if err != nil {
				return 0, err
			}
			defer stop()
		}
		wall, used, err := loadRedis(server.Process.Pid)
		cpu[s.name] = append(cpu[s.name], used)
		return wall, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "redis-server, GET from 50 clients of its own load generator, wall time per request")
	printTable(out, settings, walls, "ns")
	var used [][]float64
	for _, s := range settings {
		used = append(used, cpu[s.name])
	}
	fmt.Fprintln(out, "the same, CPU time of the server per request")
	printTable(out, settings, used, "ns")
	return nil
}

// loadRedis gives wall and CPU time of the server per request in ns.
func loadRedis(server int) (wall, cpu float64, err error) {
	before, err := peers.CPU(server)
	if err != nil {
		return 0, 0, err
	}
	text, err := exec.Command("redis-benchmark", "-p", redisPort, "-t", "get", "-n", strconv.Itoa(redisRequests),
		"-q").CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("redis-benchmark: %w: %s", err, text)
	}
	after, err := peers.CPU(server)
	if err != nil {
		return 0, 0, err
	}
	found := perSecond.FindAllSubmatch(text, -1)
	if len(found) == 0 {
		return 0, 0, fmt.Errorf("redis-benchmark printed no rate: %s", text)
	}
	rate, err := strconv.ParseFloat(string(found[len(found)-1][1]), 64)
	if err != nil || rate <= 0 {
		return 0, 0, fmt.Errorf("redis-benchmark printed %q", found[len(found)-1][1])
	}
	return 1e9 / rate, float64(after-before) / redisRequests, nil
}

func awaitPort(address string) error {
	var err error
	for range 100 {
		var connection net.Conn
		if connection, err = net.DialTimeout("tcp", address, time.Second); err == nil {
			return connection.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("wait for %s: %w", address, err)
}

// host measures what the recorder itself takes while it records a busy host: CPU, memory, and the
// file.
func host(out io.Writer, culprit, folder string, _ int) error {
	for _, l := range loads {
		if l.java != "" {
			continue
		}
		w, err := startWorker(l, folder)
		if err != nil {
			return err
		}
		defer w.end()
	}
	path, summary := filepath.Join(folder, "host.culprit"), filepath.Join(folder, "host.json")
	command := exec.Command(culprit, "record", "-f", "-a", "-d", hostWindow.String(), "-o", path, "--json", summary)
	if err := command.Start(); err != nil {
		return fmt.Errorf("start culprit: %w", err)
	}
	most := watchMemory(command.Process.Pid, hostWindow)
	if err := command.Wait(); err != nil {
		return fmt.Errorf("culprit record -a: %w", err)
	}
	text, err := os.ReadFile(summary)
	if err != nil {
		return err
	}
	var said struct {
		Cost struct {
			RecorderCPUNs int64 `json:"recorder_cpu_ns"`
			StartCPUNs    int64 `json:"start_cpu_ns"`
		} `json:"cost"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return fmt.Errorf("read %s: %w", summary, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "culprit record -a -d %v of a host with the workers above on %d CPUs\n", hostWindow, runtime.NumCPU())
	fmt.Fprintf(out, "Recorder: %.2f s CPU to load, %.1f %% of one CPU after that, at most %.0f MB, file %.2f MB\n\n",
		float64(said.Cost.StartCPUNs)/1e9, 100*float64(said.Cost.RecorderCPUNs)/float64(hostWindow),
		float64(most)/1024, float64(info.Size())/1e6)
	return nil
}

// watchMemory is the peak of the recorder, a child of culprit, in kB.
func watchMemory(parent int, duration time.Duration) (most int) {
	for end := time.Now().Add(duration); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		paths, _ := filepath.Glob("/proc/[0-9]*/status") // fails only on a bad pattern
		for _, path := range paths {
			most = max(most, peakOf(path, parent))
		}
	}
	return most
}

// peakOf is the peak memory in kB of the process with this status file, 0 when it is not a child of
// parent.
func peakOf(path string, parent int) (kilobytes int) {
	status, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", parent)) {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, _ = fmt.Sscan(rest, &kilobytes) // 0 when it is no number
		}
	}
	return kilobytes
}
