package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is a real ClickHouse server of a test.
type server struct {
	t         testing.TB
	directory string // its configuration and data
	port      int
	process   *exec.Cmd
}

// startServers starts servers that know each other as the shards of a cluster, and returns their
// DSN.
func startServers(t testing.TB, count int) (all []*server, dsn string) {
	t.Helper()
	if _, err := exec.LookPath("clickhouse-server"); err != nil {
		t.Skip("no clickhouse-server: apt-get install clickhouse-server (Debian 12)")
	}
	if testing.Short() {
		t.Skip("starts ClickHouse servers, which takes seconds")
	}
	ports := freePorts(t, 3*count)
	var shards, hosts []string
	for i := range count {
		shards = append(shards, fmt.Sprintf(
			"<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>", ports[i]))
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", ports[i]))
	}
	for i := range count {
		s := &server{t: t, directory: t.TempDir(), port: ports[i]}
		s.configure(strings.Join(shards, ""), ports[count+i], ports[2*count+i])
		s.start()
		t.Cleanup(s.kill)
		all = append(all, s)
	}
	for _, s := range all {
		s.wait()
	}
	return all, fmt.Sprintf("clickhouse://default:@%s/test?cluster=pair", strings.Join(hosts, ","))
}

func freePorts(t testing.TB, count int) (ports []int) {
	t.Helper()
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (s *server) configure(shards string, http, between int) {
	s.t.Helper()
	config := fmt.Sprintf(`<yandex><logger><level>warning</level><log>%[1]s/log</log><errorlog>%[1]s/errors</errorlog>
</logger><http_port>%[2]d</http_port><tcp_port>%[3]d</tcp_port><interserver_http_port>%[4]d</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host><listen_host>127.0.0.1</listen_host>
<mark_cache_size>67108864</mark_cache_size><path>%[1]s/data/</path><tmp_path>%[1]s/tmp/</tmp_path>
<users_config>%[1]s/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><remote_servers><pair>%[5]s</pair></remote_servers></yandex>`,
		s.directory, http, s.port, between, shards)
	const users = `<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default></default></quotas></yandex>`
	for name, text := range map[string]string{"config.xml": config, "users.xml": users} {
		if err := os.WriteFile(filepath.Join(s.directory, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *server) start() {
	s.t.Helper()
	s.process = exec.Command("clickhouse-server", "--config-file="+filepath.Join(s.directory, "config.xml"))
	s.process.Dir = s.directory
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
}

// wait waits until the server takes connections.
func (s *server) wait() {
	s.t.Helper()
	for range 600 {
		connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
		if err == nil {
			connection.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(filepath.Join(s.directory, "errors"))
	s.t.Fatalf("ClickHouse does not listen: %s", text)
}

// kill ends the server as a crash would.
func (s *server) kill() {
	if s.process != nil {
		s.process.Process.Kill()
		s.process.Wait()
		s.process = nil
	}
}
