internal import Foundation
internal import Glibc

/// Finds TCP ports of 127.0.0.1 that no process uses.
package enum FreePorts {
  /// Below the ports that the system gives to clients, so that a server that is down for a while
  /// finds its port free.
  private static let range = 15_000...31_999

  package static func find(_ count: Int) throws(LocalStackError) -> [Int] {
    var found: Set<Int> = []
    for _ in 0..<1_000 where found.count < count {
      let port = Int.random(in: range)
      if isFree(port) { found.insert(port) }
    }
    guard found.count == count else {
      throw .directory(reason: "no \(count) free ports on 127.0.0.1 in \(range)")
    }
    return Array(found)
  }

  private static func isFree(_ port: Int) -> Bool {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard file >= 0 else { return false }
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
