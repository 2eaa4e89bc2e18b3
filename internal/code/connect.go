package code

import (
	"slices"
	"strings"

	"culprit/recording"
)

var (
	// connectNames are parts of the names of functions that run once for each connection. A new one
	// costs more than its two calls: the handshake's packets run in the same thread's softirq, and
	// TLS starts anew.
	connectNames = words(
		// Linux, OpenSSL, glibc
		`tcp_v4_connect tcp_v6_connect inet_csk_accept inet_stream_connect __inet_stream_connect
		tcp_v4_syn_recv_sock tcp_conn_request tcp_close inet_release __tcp_close unix_stream_connect
		unix_release sock_close SSL_do_handshake SSL_connect SSL_accept tls_construct tls_process
		getaddrinfo`,
		// Node, Go, the JDK, Ruby, PHP, Perl: what they do around the calls
		`node::TCPWrap::Connect node::ConnectionWrap< uv__tcp_connect uv__server_io uv__finish_close
		net.(*sysDialer) net.(*Dialer) net.(*netFD).connect net.(*netFD).accept net.(*conn).Close
		net/http.(*Transport).dialConn net/http.(*Server).newConn NioSocketImpl.connect
		NioSocketImpl.accept NioSocketImpl.close java.net.Socket.connect java.net.ServerSocket.accept
		rsock_connect rsock_init_inetsock php_network_connect_socket php_network_getaddresses Perl_pp_connect`,
	)
	// connectFiles are files of run times' own libraries with their functions that run for each
	// connection.
	connectFiles = map[string]map[string]bool{
		"node:net": wordSet(`connect internalConnect Socket initSocketHandle afterConnect onconnection
			Socket._destroy Socket.connect`),
		"node:_http_agent": wordSet(`createSocket Agent.createSocket installListeners
			Agent.removeSocket`),
		"node:_http_server": wordSet(`connectionListener connectionListenerInternal socketOnClose`),
		"/socket.py":        wordSet(`create_connection getaddrinfo socket.accept`),
		"/http/client.py": wordSet(`HTTPConnection.connect HTTPSConnection.connect
			HTTPConnection.close`),
		"/socketserver.py": wordSet(`TCPServer.get_request TCPServer.shutdown_request
			ThreadingMixIn.process_request`),
	}
)

// Connects tells a function that runs once for each connection.
func Connects(frame recording.Frame) bool {
	if containsAny(frame.Name, connectNames) {
		return true
	}
	for file, functions := range connectFiles {
		if strings.HasSuffix(frame.File, file) && functions[frame.Name] {
			return true
		}
	}
	return false
}

// lookups are parts of the names of functions that look the name of a host up: of glibc, which most
// run times call, of the JDK, which has others wait for the thread that asks, and of Go.
var lookups = words("getaddrinfo gethostbyname java.net.InetAddress.get net.(*Resolver).")

// LooksUpName reports whether a stack looks the name of a host up.
func LooksUpName(frames []recording.Frame) bool {
	return slices.ContainsFunc(frames, func(frame recording.Frame) bool { return containsAny(frame.Name, lookups) })
}
