# Answers each connection in a thread. With `rank` another thread ranks all articles anew, twenty times a second.
require "socket"

def rank_articles
  (1..15_000).map { |article| (article * 7919) % 104_729 }.sort_by { |score| -score }.first(10)
end

def find_rows(number)
  (1..40).map { |row| "#{number}-#{row}" }.join(",")
end

Thread.new { loop { sleep 0.03; rank_articles } } if ARGV[1] == "rank"
server = TCPServer.new("127.0.0.1", ARGV[0].to_i)
loop do
  Thread.new(server.accept) do |connection|
    number = 0
    until (line = connection.gets).nil?
      next unless line == "\r\n"
      body = find_rows(number += 1)
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: #{body.size}\r\n\r\n#{body}")
    end
  end
end
