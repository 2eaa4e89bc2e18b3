# One thread a connection; each keeps a connection to a store, and makes it anew for one request in a hundred and fifty.
# The store takes up connections slowly: its queue of new ones is full now and then.
require 'socket'

ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

def serve_store(port)
  listener = Socket.new(:INET, :STREAM)
  listener.setsockopt(Socket::SOL_SOCKET, Socket::SO_REUSEADDR, 1)
  listener.bind(Addrinfo.tcp('127.0.0.1', port))
  listener.listen(0)
  loop do
    sleep 0.12
    socket, = listener.accept
    Thread.new(socket) { |peer| peer.write('ok') while peer.gets }
  end
end

def connect_store(port)
  TCPSocket.new('127.0.0.1', port)
end

def serve(socket, port)
  store = connect_store(port)
  while (line = socket.gets)
    nil while (header = socket.gets) && header != "\r\n"
    if rand(150).zero?
      store.close
      store = connect_store(port)
    end
    store.puts(line)
    store.read(2)
    socket.write(ANSWER)
  end
end

port, other = ARGV.map { |word| Integer(word) }
return serve_store(port) unless other

server = TCPServer.new('127.0.0.1', port)
loop { Thread.new(server.accept) { |socket| serve(socket, other) } }
