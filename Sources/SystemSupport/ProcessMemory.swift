internal import CSystem
internal import Glibc

/// Returns memory to the system that the process holds without using it.
package enum ProcessMemory {
  /// Limits the heaps that threads allocate from; glibc creates up to eight for each core, and each
  /// keeps what its threads have freed.
  ///
  /// Must be called before a second thread allocates.
  package static func limitHeaps(to count: Int32) { ridepulse_limit_arenas(count) }

  /// Returns freed memory, code and constants to the system, for a time without work.
  package static func releaseUnused() {
    // First: it reads and splits a text of some hundred kilobytes.
    releaseFilePages()
    trim()
  }

  /// Returns freed memory to the system, in all heaps.
  ///
  /// Allocations of other threads wait meanwhile.
  static func trim() { malloc_trim(0) }

  /// Releases the pages of code and constants that were read so far. They are read again from the
  /// page cache when they are used.
  static func releaseFilePages() {
    let limit = 4 << 20
    guard let bytes = try? RegularFile.read("/proc/self/smaps", limit: limit) else { return }
    for range in cleanMappings(String(decoding: bytes, as: UTF8.self)) {
      unsafe _ = madvise(
        UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
    }
  }

  /// Returns the address ranges of private, read-only mappings of programs and libraries, without a
  /// page of their own.
  ///
  /// A page that the linker has relocated before it was made read-only exists only in memory. Such
  /// pages are anonymous; a mapping that has one is left out. So are files without code: another
  /// thread may unmap one and get its addresses for memory, before they are released.
  ///
  /// - Parameter smaps: The text of `/proc/PID/smaps`.
  static func cleanMappings(_ smaps: String) -> [Range<UInt>] {
    var mappings: [(range: Range<UInt>, file: Substring)] = []
    var filesOfCode: Set<Substring> = []
    var current: (range: Range<UInt>, file: Substring)?
    for line in smaps.utf8.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5).map { Substring($0) }
      guard let first = words.first else { continue }
      if !first.hasSuffix(":") {
        guard words.count == 6 else {
          current = nil
          continue
        }
        if words[1] == "r-xp" { filesOfCode.insert(words[5]) }
        current = mapping(first, rights: words[1], file: words[5]).map { ($0, words[5]) }
      } else if first == "Anonymous:", let mapping = current {
        if words.count > 1, words[1] == "0" { mappings.append(mapping) }
        current = nil
      }
    }
    return mappings.filter { filesOfCode.contains($0.file) }.map(\.range)
  }

  private static func mapping(
    _ addresses: Substring, rights: Substring, file: Substring
  ) -> Range<UInt>? {
    // The vDSO and the stack have names in brackets.
    guard rights == "r-xp" || rights == "r--p", file.drop(while: { $0 == " " }).first == "/" else {
      return nil
    }
    let ends = addresses.split(separator: "-")
    guard ends.count == 2, let start = UInt(ends[0], radix: 16), let end = UInt(ends[1], radix: 16),
      start < end
    else { return nil }
    return start..<end
  }
}
