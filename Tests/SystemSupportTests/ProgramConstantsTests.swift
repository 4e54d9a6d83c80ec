import Foundation
import Testing

@testable import SystemSupport

@Suite(.serialized) struct ProgramConstantsTests {
  /// The rights of the mapping that has an address, such as `r--p`.
  private func rights(at address: UInt) throws -> Substring? {
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    for line in maps.split(separator: "\n") {
      let words = line.split(separator: " ")
      let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      if ends.count == 2, ends[0] <= address, address < ends[1] { return words[1] }
    }
    return nil
  }

  @Test func `constants that the linker made writable are read-only`() throws {
    let range = try #require(
      ProgramConstants.writableRange(), "the linker makes them read-only: protect() is not needed")
    ProgramConstants.protect()
    #expect(try rights(at: range.lowerBound) == "r--p")
    #expect(try rights(at: range.upperBound - 1) == "r--p")
    #expect(try rights(at: range.upperBound) == "rw-p", "variables remain writable")
    // Strings, casts and Unicode read constants of the standard library.
    #expect(("é" as Any as? String)?.uppercased() == "É")
  }

  @Test func `sections of a program are read`() throws {
    let sections = try #require(ELFSections(path: "/proc/self/exe"))
    #expect(sections.entry > 0)
    #expect(try #require(sections.writable(".data")).count > 0)
    #expect(sections.writable(".text") == nil)
    #expect(sections.writable(".dat") == nil)
    #expect(sections.writable("") == nil)
  }

  @Test func `a file that is not a program has no sections`() throws {
    let path = NSTemporaryDirectory() + "sections-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(ELFSections(path: path) == nil, "no file")
    let start = try #require(FileManager.default.contents(atPath: "/proc/self/exe")?.prefix(64))
    for bytes in [Data(), Data("#!/bin/sh\n".utf8), start, start.prefix(63)] {
      try bytes.write(to: URL(fileURLWithPath: path))
      #expect(ELFSections(path: path) == nil)
    }
  }
}
