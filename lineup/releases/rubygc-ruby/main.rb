# Reads a table and keeps it.
table = {}
200_000.times { |i| table[i] = ["row #{i}", i.to_s] }
puts table.size
