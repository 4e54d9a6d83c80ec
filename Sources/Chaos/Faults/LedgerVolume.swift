import Foundation
import LocalStack
import Synchronization

/// A small file system for the ledger, so that its disk can be filled.
///
/// It is a tmpfs that stays mounted while Postgres restarts. A shell mounts it, and unmounts it
/// when a pipe closes whose other end only this process holds, however this process ends.
final class LedgerVolume: Sendable {
  let path: String
  private let shell: ChildProcess
  private let isFull = Mutex(false)

  private static let program = """
    trap '' HUP INT TERM QUIT
    mkdir -p "$0" && mount -t tmpfs -o size=512m,mode=0755 ridepulse-chaos "$0" || exit 1
    mkdir "$0/ledger" && chown "$1:$2" "$0/ledger"
    echo mounted
    exec > /dev/null
    cat
    umount -l "$0" && rmdir "$0"
    """

  /// Mounts the volume; returns nil if this process may not mount a file system.
  ///
  /// - Parameter cluster: the data directory of Postgres, whose owner will own the volume.
  init?(path: String, cluster: String) throws {
    self.path = path
    let attributes = try FileManager.default.attributesOfItem(atPath: cluster)
    let (user, group) = (attributes[.ownerAccountID], attributes[.groupOwnerAccountID])
    shell = try ChildProcess(
      ["/bin/sh", "-c", Self.program, path, "\(user ?? 0)", "\(group ?? 0)"], input: .pipe,
      output: .pipe, errors: .null)
    guard (try? shell.waitForOutput("mounted")) != nil else { return nil }
  }

  /// The tablespace on the volume.
  static let tablespace = "chaos_ledger"

  /// Returns scripts that move the ledger to the volume; later partitions of the engine's role
  /// follow it.
  static func script(path: String) -> [String] {
    [
      // Not allowed inside a transaction.
      "create tablespace chaos_ledger location '\(path)/ledger'",
      """
      grant create on tablespace chaos_ledger to public;
      alter role \(EngineRole.name) set default_tablespace = 'chaos_ledger';
      do $$
      declare
        item record;
      begin
        for item in
          select c.oid::regclass as name, c.relkind in ('i', 'I') as is_index
          from pg_class c
          where c.oid in (select relid from pg_partition_tree('ridepulse.ledger'))
            or c.oid in (select i.indexrelid from pg_index i
              where i.indrelid in (select relid from pg_partition_tree('ridepulse.ledger')))
        loop
          execute format('alter %s %s set tablespace chaos_ledger',
            case when item.is_index then 'index' else 'table' end, item.name);
        end loop;
      end
      $$;
      """,
    ]
  }

  private var filler: String { path + "/filler" }

  /// Uses up all free space.
  func fill() throws {
    try isFull.withLock { isFull in
      _ = FileManager.default.createFile(atPath: filler, contents: nil)
      guard let file = FileHandle(forWritingAtPath: filler) else {
        throw ChaosFailure("\(filler) can't be written")
      }
      for size in [1 << 20, 1 << 12] {
        // The loop ends with the error of a full disk.
        while (try? file.write(contentsOf: Data(repeating: 0, count: size))) != nil {}
      }
      try file.close()
      isFull = true
    }
  }

  /// Frees the space; returns true if the disk was full.
  @discardableResult func empty() throws -> Bool {
    try isFull.withLock { isFull in
      guard isFull else { return false }
      try FileManager.default.removeItem(atPath: filler)
      isFull = false
      return true
    }
  }

  /// Unmounts the volume; Postgres must have stopped.
  func unmount() async {
    shell.closeInput()
    // The shell removes the mount point last.
    for _ in 0..<200 where FileManager.default.fileExists(atPath: path) {
      try? await Task.sleep(for: .milliseconds(50))
    }
  }
}
