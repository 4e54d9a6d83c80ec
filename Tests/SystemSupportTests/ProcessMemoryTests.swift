import Foundation
import Testing

@testable import SystemSupport

@Suite(.serialized) struct ProcessMemoryTests {
  /// The part of the resident memory that `/proc/self/status` names, in bytes.
  private func resident(_ name: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + ":") })
    let words = line.split(whereSeparator: \.isWhitespace)
    return try #require(Int(words[1])) * 1024
  }

  @Test func `freed memory is returned to the system`() throws {
    // Small blocks, of which the last one keeps the heap from shrinking by itself.
    let count = 400_000
    let blocks = UnsafeMutableBufferPointer<UnsafeMutableRawPointer?>.allocate(
      capacity: count)
    for index in 0..<count {
      let block = unsafe malloc(100)
      unsafe blocks[index] = unsafe block
    }
    for index in 0..<count - 1 { unsafe free(blocks[index]) }
    let before = try resident("RssAnon")
    ProcessMemory.trim()
    let after = try resident("RssAnon")
    unsafe free(blocks[count - 1])
    unsafe blocks.deallocate()
    #expect(before - after > 20 << 20, "from \(before) to \(after) bytes")
  }

  @Test func `pages of code are released, and read again`() throws {
    let before = try resident("RssFile")
    ProcessMemory.releaseFilePages()
    let after = try resident("RssFile")
    #expect(before - after > before / 4, "from \(before) to \(after) bytes")
    #expect("\(Date(timeIntervalSince1970: 0))".hasPrefix("1970"), "code runs")
  }

  @Test func `only code that no page in memory differs from is released`() {
    let smaps = """
      1000-3000 r-xp 00000000 fe:00 253911                     /usr/bin/with space
      Rss:                   8 kB
      Anonymous:             0 kB
      VmFlags: rd ex mr mw me
      3000-4000 r--p 00003000 fe:00 253911                     /usr/bin/with space
      Anonymous:             0 kB
      4000-5000 r--p 00004000 fe:00 253911                     /usr/bin/with space
      Anonymous:             4 kB
      5000-6000 rw-p 00005000 fe:00 253911                     /usr/bin/written
      Anonymous:             0 kB
      9000-a000 r--p 00000000 fe:00 253913                     /usr/share/data
      Anonymous:             0 kB
      6000-7000 r--s 00000000 fe:00 253912                     /var/shared
      Anonymous:             0 kB
      7000-8000 r-xp 00000000 00:00 0                          [vdso]
      Anonymous:             0 kB
      8000-9000 r--p 00000000 00:00 0
      Anonymous:             0 kB
      ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]
      Anonymous:             0 kB
      """
    #expect(ProcessMemory.cleanMappings(smaps) == [0x1000..<0x3000, 0x3000..<0x4000])
    #expect(ProcessMemory.cleanMappings("") == [])
  }
}
