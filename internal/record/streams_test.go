package record

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"culprit/recording"
)

// streamVerb makes the test program a server of HTTP/2 in the clear.
const streamVerb = "serve-streams"

// napping is how long /nap takes at least.
const napping = 3 * time.Millisecond

func serveStreams(port string) error {
	http.HandleFunc("/nap/", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(napping)
		fmt.Fprint(w, "ok")
	})
	http.HandleFunc("/shop.Store/Take", func(w http.ResponseWriter, r *http.Request) { // as gRPC answers
		w.Header().Set("Trailer", "grpc-status")
		taken, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, taken, err)
		w.Header().Set("grpc-status", "14")
	})
	http.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	http.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 200_000))
	})
	server := http.Server{Addr: "127.0.0.1:" + port, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	server.Protocols.SetHTTP1(true)
	return server.ListenAndServe()
}

// stream is a request that a client of the test sends again and again.
type stream struct{ method, path, body, content, protocol, kind string }

var streams = []stream{{"GET", "/nap/17?q=1", "", "", "http/2", "GET /nap/#"},
	{"POST", "/shop.Store/Take", strings.Repeat("y", 50_000), "application/grpc", "grpc", "POST /shop.Store/Take"},
	{"DELETE", "/broken", "", "", "http/2", "DELETE /broken"}, {"GET", "/large", "", "", "http/2", "GET /large"}}

// send sends it over one connection, and returns how long it took.
func (s *stream) send(client *http.Client, port int) (time.Duration, error) {
	began := time.Now()
	url := fmt.Sprintf("http://127.0.0.1:%d%s", port, s.path)
	request, err := http.NewRequest(s.method, url, strings.NewReader(s.body))
	if err != nil {
		return 0, err
	}
	if s.content != "" {
		request.Header.Set("Content-Type", s.content)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	took := time.Since(began)
	if answer.ProtoMajor != 2 {
		err = fmt.Errorf("answered by %s", answer.Proto)
	}
	answer.Body.Close()
	return took, err
}

// sendAll has each kind sent count times, all kinds at once over one connection, and returns what
// each took.
func sendAll(t *testing.T, client *http.Client, port, count int) map[string][]time.Duration {
	t.Helper()
	all := map[string][]time.Duration{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range streams {
		group.Go(func() {
			for range count {
				took, err := streams[i].send(client, port)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all[streams[i].kind] = append(all[streams[i].kind], took)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for _, took := range all {
		slices.Sort(took)
	}
	return all
}

func streamClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Streams of HTTP/2 are requests of their own: by kind, with their errors, and no longer than their
// clients saw. A connection older than the recording has named its paths before: its requests are
// counted without them.
func TestStreamsOfHTTP2(t *testing.T) { bothWays(t, checkStreams) }

func checkStreams(t *testing.T, options Options) {
	const count = 40
	recorder := start(t, options)
	port := freePort(t)
	server := running(t, os.Args[0], streamVerb, strconv.Itoa(port))
	awaitPort(t, port)
	older, newer := streamClient(t), streamClient(t)
	if sendAll(t, older, port, 2); t.Failed() {
		t.FailNow()
	}
	if err := recorder.Begin(t.Context(), Target{Kind: "pid", Pid: server.pid()}); err != nil {
		t.Fatal(err)
	}
	truth := sendAll(t, newer, port, count)
	sendAll(t, older, port, count)
	time.Sleep(20 * time.Millisecond)
	got := endWindow(t, recorder)
	got.lossless(t, "requests")
	for i := range streams {
		checkStream(t, got.Recording, &streams[i], count, truth[streams[i].kind])
	}
	unnamed, _ := kindOf(got.Recording, recording.SideServer, recording.PathNotSeen)
	all := int64(len(streams) * count) // but the first ones, which tell that the connection has streams
	if unnamed.Count < all/2 || unnamed.Count > all {
		t.Errorf("%d requests of the older connection, %d were sent", unnamed.Count, all)
	}
}

func checkStream(t *testing.T, rec *recording.Recording, s *stream, count int64, truth []time.Duration) {
	t.Helper()
	sum, latencies := kindOf(rec, recording.SideServer, s.kind)
	if sum.Count != count || sum.Protocol != s.protocol {
		t.Errorf("%s: %d requests of %s, %d of %s were sent", s.kind, sum.Count, sum.Protocol, count, s.protocol)
		return
	}
	// A bucket's middle is up to 1.6 % off; the server may come back from its call after the client
	// had the answer.
	middle, most := time.Duration(latencies[count/2]), truth[count/2]*103/100+napping
	if middle > most {
		t.Errorf("%s: %v in the middle, its client saw %v", s.kind, middle, truth[count/2])
	}
	if least := time.Duration(latencies[0]); strings.HasPrefix(s.path, "/nap") && least < napping*98/100 {
		t.Errorf("%s: %v at least, it sleeps for %v", s.kind, least, napping)
	}
	if fails := s.protocol == "grpc" || s.path == "/broken"; fails != (sum.Errors == count) || !fails && sum.Errors > 0 {
		t.Errorf("%s: %d errors of %d", s.kind, sum.Errors, sum.Count)
	}
	if parts := sum.WaitNs + sum.UploadNs + sum.ServeNs + sum.AnswerNs; parts != sum.TotalNs {
		t.Errorf("%s: the parts are %d ns, the whole %d", s.kind, parts, sum.TotalNs)
	}
}
