import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite struct OutputFileTests {
  private func write(
    _ text: String, to path: String, _ readers: OutputFile.Readers = .usual
  ) throws {
    let file = try OutputFile(path: path, readers: readers)
    try file.write(Array(text.utf8))
    try file.commit()
  }

  private func mode(_ path: String) throws -> Int {
    try #require(
      FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try RegularFile.read(path, limit: 1000), as: UTF8.self)
  }

  @Test func `a file is replaced through links, with its mode`() throws {
    try ScratchFolder.with { folder in
      try write("one", to: folder + "/a")
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder + "/a")
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/link", withDestinationPath: "a")
      try write("two", to: folder + "/link", .owner)
      #expect(try text(folder + "/a") == "two")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link") == "a")
      #expect(try mode(folder + "/a") == 0o640)
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/dangling", withDestinationPath: "new")
      try write("three", to: folder + "/dangling", .owner)
      #expect(try text(folder + "/new") == "three" && mode(folder + "/new") == 0o600)
    }
  }

  @Test func `a file that is not completed leaves the former one and nothing else`() throws {
    try ScratchFolder.with { folder in
      try write("one", to: folder + "/a")
      do {
        let file = try OutputFile(path: folder + "/a", readers: .usual)
        try file.write(Array("half".utf8))
        // A process that is killed here leaves what the folder has now.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
      }
      #expect(try text(folder + "/a") == "one")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
    }
  }

  @Test func `pipes and devices are written to`() throws {
    try ScratchFolder.with { folder in
      let pipe = folder + "/pipe"
      #expect(unsafe mkfifo(pipe, 0o600) == 0)
      let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK)
      defer { close(reader) }
      try write("text", to: pipe)
      var bytes = [UInt8](repeating: 0, count: 8)
      #expect(unsafe read(reader, &bytes, 8) == 4)
      // A device of the test's own: a broken program would replace the system's.
      let device = folder + "/null"
      if unsafe mknod(device, S_IFCHR | 0o666, 0x103) == 0 {
        try? write("text", to: device)
        var status = stat()
        #expect(unsafe stat(device, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
      }
      #expect(throws: OutputFile.Failure.self) { try write("text", to: folder) }
      #expect(throws: OutputFile.Failure.self) { try write("text", to: folder + "/none/a") }
    }
  }
}
