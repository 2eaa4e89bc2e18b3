# One thread a connection; each request makes a small page.
require 'socket'

def make_page(path)
  (1..60).map { |number| "#{path} #{number * 7919 % 104_729}" }.sort.join("\n").size
end

server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
loop do
  Thread.new(server.accept) do |socket|
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = socket.gets)
      path = line.split[1]
      nil while (header = socket.gets) && header != "\r\n"
      make_page(path)
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    end
    socket.close
  end
end
