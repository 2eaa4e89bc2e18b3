# Publishes a site: pages are rendered, and a manifest gets the digest of each as sha256sum prints it.
require 'fileutils'
require 'open3'
require 'tmpdir'

def render_page(number)
  rows = (0...900).map { |i| "<tr><td>#{i}</td><td>#{(number * 31 + i * 17) % 997}</td></tr>" }
  "<table>#{rows.join("\n")}</table>"
end

def write_pages(folder, count)
  (0...count).map do |number|
    path = File.join(folder, "page-#{number}.html")
    File.write(path, render_page(number))
    path
  end
end

def digest_files(paths)
  output, status = Open3.capture2('sha256sum', *paths)
  raise 'sha256sum failed' unless status.success?
  output.lines.map { |line| line.split.first }
end

folder = Dir.mktmpdir('site', ARGV[0])
begin
  pages = write_pages(folder, ARGV[1].to_i)
  digests = pages.each_slice(ARGV[2].to_i).flat_map { |slice| digest_files(slice) }
  puts digests.map { |digest| digest.to_i(16) % 1009 }.sum
ensure
  FileUtils.rm_rf(folder)
end
