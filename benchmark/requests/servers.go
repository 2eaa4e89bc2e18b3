package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a real one and how it is asked.
type server struct {
	name  string
	needs []string // programs
	// prepare runs before it, start is it; {port}, {folder} and {socket} are put in.
	prepare, start string
	unix           bool
	ask            func(io.ReadWriter) (session, error)
	kind           string // as culprit is to name what is asked
	address        string
	command        *exec.Cmd
	ended          chan struct{}
	said           bytes.Buffer
}

//go:embed programs
var programs embed.FS

const nginxHead = `printf 'worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/errors;
events { worker_connections 4096; }
http { access_log off; client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t; keepalive_requests 100000000; server { %s
location / { return 200 ok; } } }' '`

const nginxTail = `' > {folder}/conf`

// beginPostgres makes a data base and starts it; %s is where it listens beside its socket.
const beginPostgres = `setpriv --reuid=postgres --regid=postgres --clear-groups `

func servers() []*server {
	const get = "GET /item/#"
	askRedis := lines("*2\r\n$3\r\nGET\r\n$5\r\nthing\r\n", "\r\n")
	askMemcached := lines("get thing\r\n", "END\r\n")
	nginx := func(listen string) string { return nginxHead + listen + nginxTail }
	const runNginx = "nginx -c {folder}/conf"
	const initPostgres = `B=$(ls -d /usr/lib/postgresql/*/bin | tail -1); mkdir {folder}/data && ` +
		`chown postgres {folder}/data {folder} && ` + beginPostgres + `$B/initdb -A trust -N -D {folder}/data >/dev/null`
	const runPostgres = `B=$(ls -d /usr/lib/postgresql/*/bin | tail -1); exec ` + beginPostgres +
		`$B/postgres -D {folder}/data -p {port} -k {folder}`
	const initMaria = `mariadb-install-db --no-defaults --datadir={folder}/data --user=root --skip-test-db >/dev/null 2>&1`
	const runMaria = `mariadbd --no-defaults --datadir={folder}/data --user=root --skip-grant-tables --port={port} ` +
		`--socket={socket} --bind-address=127.0.0.1 --pid-file={folder}/pid`
	return []*server{
		{name: "nginx", needs: []string{"nginx"}, prepare: nginx("listen 127.0.0.1:{port};"), start: runNginx,
			ask: askHTTP, kind: get},
		{name: "nginx, unix socket", needs: []string{"nginx"}, prepare: nginx("listen unix:{socket};"),
			start: runNginx, unix: true, ask: askHTTP, kind: get},
		{name: "nginx, TLS", needs: []string{"nginx", "openssl"},
			prepare: `openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost ` +
				`-keyout {folder}/key -out {folder}/certificate 2>/dev/null; ` +
				nginx("listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/certificate; ssl_certificate_key {folder}/key;"),
			start: runNginx, ask: askTLS},
		{name: "redis", needs: []string{"redis-server"}, ask: askRedis, kind: "GET",
			start: "redis-server --port {port} --save '' --dir {folder}"},
		{name: "redis, unix socket", needs: []string{"redis-server"}, unix: true, ask: askRedis, kind: "GET",
			start: "redis-server --port 0 --unixsocket {socket} --save '' --dir {folder}"},
		{name: "memcached", needs: []string{"memcached"}, ask: askMemcached, kind: "GET",
			start: "memcached -u root -l 127.0.0.1 -p {port}"},
		{name: "memcached, unix socket", needs: []string{"memcached"}, ask: askMemcached, kind: "GET", unix: true,
			start: "memcached -u root -s {socket}"},
		{name: "postgres", needs: []string{"postgres"}, prepare: initPostgres, start: runPostgres, ask: askPostgres,
			kind: "SELECT"},
		{name: "postgres, unix socket", needs: []string{"postgres"}, prepare: initPostgres, unix: true,
			start: runPostgres + " -c listen_addresses=''", ask: askPostgres, kind: "SELECT"},
		{name: "mariadb", needs: []string{"mariadbd", "mariadb-install-db"}, prepare: initMaria, start: runMaria,
			ask: askMySQL, kind: "SELECT"},
		{name: "mariadb, unix socket", needs: []string{"mariadbd", "mariadb-install-db"}, prepare: initMaria,
			start: runMaria, ask: askMySQL, kind: "SELECT", unix: true},
		{name: "node", needs: []string{"node"}, start: "node {folder}/shop.js {port}", ask: askHTTP, kind: get},
		{name: "go", needs: []string{"go"}, prepare: "go build -o {folder}/shop {folder}/shop.go",
			start: "{folder}/shop {port}", ask: askHTTP, kind: get},
	}
}

// errNotInstalled says that a server is left out.
var errNotInstalled = errors.New("not installed")

// begin starts a server in a folder of its own and returns when it takes connections.
func (s *server) begin(parent string) error {
	for _, program := range s.needs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: %s", errNotInstalled, program)
		}
	}
	folder, err := os.MkdirTemp(parent, "")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.CopyFS(folder, programFiles()); err != nil {
		return fmt.Errorf("copy programs: %w", err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	socket := filepath.Join(folder, "socket")
	s.address = "127.0.0.1:" + port
	if s.unix {
		s.address = socket
		if strings.HasPrefix(s.name, "postgres") {
			s.address = filepath.Join(folder, ".s.PGSQL."+port)
		}
	}
	words := strings.NewReplacer("{port}", port, "{folder}", folder, "{socket}", socket)
	if text, err := exec.Command("sh", "-c", words.Replace(s.prepare)).CombinedOutput(); err != nil {
		return fmt.Errorf("prepare %s: %w: %s", s.name, err, text)
	}
	start := words.Replace(s.start)
	if !strings.Contains(start, "exec ") {
		start = "exec " + start
	}
	s.command = exec.Command("sh", "-c", start)
	s.command.Stdout, s.command.Stderr = &s.said, &s.said
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := s.command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	s.ended = make(chan struct{})
	go func() {
		_ = s.command.Wait() // how it ended is in what it said
		close(s.ended)
	}()
	return s.await()
}

func (s *server) await() error {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		connection, _, err := s.open()
		if err == nil {
			return connection.Close()
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%s ended: %s", s.name, s.said.Bytes())
		default:
		}
	}
	s.end()
	return fmt.Errorf("%s did not listen at %s: %s", s.name, s.address, s.said.Bytes())
}

// open connects and speaks until requests can be sent.
func (s *server) open() (*stamped, session, error) {
	network := "tcp4"
	if s.unix {
		network = "unix"
	}
	connection, err := dial(network, s.address)
	if err != nil {
		return nil, nil, err
	}
	ask, err := s.ask(connection)
	if err != nil {
		return nil, nil, errors.Join(err, connection.Close())
	}
	return connection, ask, nil
}

func (s *server) end() {
	_ = s.command.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		_ = syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL)
		<-s.ended
	}
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), nil
}
