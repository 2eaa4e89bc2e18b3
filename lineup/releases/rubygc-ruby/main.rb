# Renders rows while a table is kept.
table = Array.new(60_000) { |i| "row number #{i} of a table that is kept" * 2 }
size = 0
90_000.times { |i| size += "rendered #{table[i % 60_000]} #{i}".upcase.size }
puts size
