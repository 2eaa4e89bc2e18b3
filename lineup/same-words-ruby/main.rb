# Renders pages of a catalogue from records.
Record = Struct.new(:name, :price, :tags)

def records(count)
  Array.new(count) { |i| Record.new("item-#{i * 7919 % 1009}", i % 90 + 10, %w[new sale old].rotate(i % 3)) }
end

def page(list)
  list.sort_by(&:name).map { |r| format("%-12s %6.2f %s", r.name, r.price * 1.19, r.tags.join(",")) }.join("\n")
end

size = 0
ARGV[0].to_i.times { |round| size += page(records(300 + round % 7)).size }
puts size
