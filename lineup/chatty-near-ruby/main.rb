# Writes invoices line by line, each with a check digit.
#
# usage: main.rb LINES ROUNDS

def check_digit(line, rounds)
  sum = 7
  rounds.times { |round| sum = (sum * 31 + line.getbyte(round % line.bytesize)) & 0xffff }
  sum % 10
end

def write_invoices(out, lines, rounds)
  lines.times do |number|
    line = "item #{number} price #{number * 17 % 991}"
    out.syswrite("#{line} #{check_digit(line, rounds)}\n")
  end
end

File.open('/dev/null', 'w') { |out| write_invoices(out, ARGV[0].to_i, ARGV[1].to_i) }
