import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite struct RegularFileTests {
  private func complaint(_ path: String, limit: Int = 10) -> String {
    do throws(RegularFile.Failure) {
      return "read: \(String(decoding: try RegularFile.read(path, limit: limit), as: UTF8.self))"
    } catch {
      return "\(error)"
    }
  }

  @Test func `a regular file is read whole, also by a symbolic link`() throws {
    try ScratchFolder.with { folder in
      try Data("0123456789".utf8).write(to: URL(fileURLWithPath: folder + "/a"))
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/link", withDestinationPath: folder + "/a")
      #expect(complaint(folder + "/a") == "read: 0123456789")
      #expect(complaint(folder + "/link") == "read: 0123456789")
      #expect(complaint(folder + "/a", limit: 9) == "it has more than 9 bytes")
      #expect(try RegularFile.start(of: folder + "/a", limit: 3) == Array("012".utf8))
      #expect(complaint(folder + "/none") == "No such file or directory")
      try Data().write(to: URL(fileURLWithPath: folder + "/empty"))
      #expect(complaint(folder + "/empty") == "read: ")
    }
  }

  @Test func `nothing else is, and nothing waits`() throws {
    try ScratchFolder.with { folder in
      #expect(unsafe mkfifo(folder + "/pipe", 0o600) == 0)
      #expect(complaint(folder + "/pipe") == "it is a named pipe, not a regular file")
      #expect(complaint(folder) == "it is a directory, not a regular file")
      #expect(complaint("/dev/zero") == "it is a device, not a regular file")
      #expect(complaint("/dev/null\0/x") == "the path holds a NUL")
    }
  }

  @Test func `a file of which the system gives no size`() {
    #expect(complaint("/proc/self/comm", limit: 64).hasPrefix("read: "))
  }
}
