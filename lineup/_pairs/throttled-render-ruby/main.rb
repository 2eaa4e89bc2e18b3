# Renders invoices from a small template language.
TEMPLATE = "Invoice {{number}} for {{name}}\n{{#lines}}{{count}} x {{item}} at {{price}}\n{{/lines}}Total {{total}}\n"

def fill(template, values)
  template.gsub(/\{\{(\w+)\}\}/) { values.fetch(Regexp.last_match(1)).to_s }
end

def render_invoice(values, lines)
  body = TEMPLATE.sub(/\{\{#lines\}\}(.*?)\{\{\/lines\}\}/m) do
    part = Regexp.last_match(1)
    lines.map { |line| fill(part, line) }.join
  end
  fill(body, values)
end

def make_lines(number)
  (0...12).map { |i| { 'count' => i + 1, 'item' => "item-#{(number + i) % 97}", 'price' => (number * 7 + i) % 50 } }
end

size = 0
ARGV[0].to_i.times do |number|
  lines = make_lines(number)
  total = lines.sum { |line| line['count'] * line['price'] }
  size += render_invoice({ 'number' => number, 'name' => "customer-#{number % 500}", 'total' => total }, lines).size
end
puts size
