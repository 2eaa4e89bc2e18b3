# Spins for so many seconds: two functions, three to one by CPU time. Prints the CPU seconds of each.
def inner(rounds)
  work = 0
  i = 0
  while i < rounds
    work += i & 255
    i += 1
  end
  work
end

def spin_much(rounds)
  (0...3).map { inner(rounds) }.sum # map calls each: two functions of C, one straight behind the other
end

def spin_little(rounds)
  inner(rounds) + 1
end

def cpu
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

def main
  much = little = 0.0
  finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
    start = cpu
    spin_much(3000)
    between = cpu
    spin_little(3000)
    much += between - start
    little += cpu - between
  end
  printf("spin_much %.6f\nspin_little %.6f\n", much, little)
end

main
