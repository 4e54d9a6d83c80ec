internal import CSystem
internal import Glibc

/// The sections of a program's file, as the linker wrote them.
struct ELFSections {
  /// The address of the first instruction, relative to where the file is mapped.
  let entry: UInt
  private let headers: [Elf64_Shdr]
  private let names: [UInt8]
  /// More than any linker writes, so that a damaged file is not read into memory.
  private static let namesLimit = 1 << 20

  /// Reads the table of sections; nil if the file has none, or is not a program of 64 bits.
  init?(path: String) {
    guard let file = try? RegularFile.opened(path) else { return nil }
    defer { close(file.descriptor) }
    var header = Elf64_Ehdr()
    let size = MemoryLayout<Elf64_Ehdr>.size
    guard unsafe pread(file.descriptor, &header, size, 0) == size,
      header.e_ident.0 == 0x7f, header.e_ident.1 == UInt8(ascii: "E"),
      Int32(header.e_ident.4) == ELFCLASS64,
      header.e_shentsize == MemoryLayout<Elf64_Shdr>.size, header.e_shstrndx < header.e_shnum,
      let headers = Self.headers(header, file.descriptor),
      let names = Self.names(headers[Int(header.e_shstrndx)], file.descriptor)
    else { return nil }
    entry = UInt(header.e_entry)
    self.headers = headers
    self.names = names
  }

  /// Returns the addresses of a section whose pages the kernel maps as writable; nil if the section is
  /// read-only or missing.
  func writable(_ name: String) -> Range<UInt>? {
    let header = headers.first {
      let start = Int($0.sh_name)
      let end = start + name.utf8.count
      return end < names.count && names[start..<end].elementsEqual(name.utf8) && names[end] == 0
    }
    guard let header, header.sh_flags & UInt64(SHF_WRITE) != 0 else { return nil }
    let start = UInt(header.sh_addr)
    let (end, overflows) = start.addingReportingOverflow(UInt(header.sh_size))
    return overflows ? nil : start..<end
  }

  private static func headers(_ header: Elf64_Ehdr, _ descriptor: Int32) -> [Elf64_Shdr]? {
    var headers = Array(repeating: Elf64_Shdr(), count: Int(header.e_shnum))
    let size = headers.count * MemoryLayout<Elf64_Shdr>.stride
    let offset = off_t(truncatingIfNeeded: header.e_shoff)
    return unsafe pread(descriptor, &headers, size, offset) == size ? headers : nil
  }

  private static func names(_ header: Elf64_Shdr, _ descriptor: Int32) -> [UInt8]? {
    guard let size = Int(exactly: header.sh_size), size <= namesLimit else { return nil }
    var names = [UInt8](repeating: 0, count: size)
    let offset = off_t(truncatingIfNeeded: header.sh_offset)
    return unsafe pread(descriptor, &names, size, offset) == size ? names : nil
  }
}
