# Two jobs take turns at a ledger: whoever finds its lock file taken tries again a little later.
require 'fileutils'
require 'tmpdir'

def with_lock(path, pause)
  begin
    lock = File.open(path, File::WRONLY | File::CREAT | File::EXCL)
  rescue Errno::EEXIST
    sleep pause
    retry
  end
  yield
ensure
  lock&.close
  File.delete(path) if lock
end

def book_page(number)
  sum = number
  (0...60_000).each { |i| sum = (sum * 31 + i) % 1_000_003 }
  sum
end

def read_turn(ledger)
  File.read(ledger).to_i
end

def book_pages(folder, own, pages, pause)
  ledger = File.join(folder, 'ledger')
  done = sum = 0
  while done < pages
    booked = with_lock(File.join(folder, 'lock'), pause) do
      if read_turn(ledger) % 2 == own
        sum += book_page(done)
        File.write(ledger, read_turn(ledger) + 1)
      end
    end
    booked ? done += 1 : sleep(pause)
  end
  sum
end

folder = Dir.mktmpdir('ledger', ARGV[0])
begin
  File.write(File.join(folder, 'ledger'), '0')
  pages, pause = ARGV[1].to_i, ARGV[2].to_f / 1000
  other = fork { book_pages(folder, 1, pages, pause) }
  puts book_pages(folder, 0, pages, pause)
  Process.wait(other)
ensure
  FileUtils.rm_rf(folder)
end
