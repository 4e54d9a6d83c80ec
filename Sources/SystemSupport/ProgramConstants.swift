internal import CSystem
internal import Glibc

/// The constants of this program.
///
/// The Swift compiler marks descriptors, which are constant, as writable, and the linker puts all
/// constants into one section with them: 38 MB of a release build, most of it tables of Unicode, in the
/// segment of variables. `ProcessMemory.releaseFilePages` leaves that segment alone, because its
/// pages may have been written.
package enum ProgramConstants {
  /// Makes them read-only; does nothing if the linker already has.
  ///
  /// A page that has been written stays in memory, as it is.
  package static func protect() {
    guard let range = writableRange() else { return }
    unsafe _ = mprotect(
      UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, PROT_READ)
  }

  /// Returns the addresses of the whole pages of constants that the linker made writable; nil if there
  /// are none.
  static func writableRange() -> Range<UInt>? {
    // The file of a program that its loader was called with is the loader; the entry is as well.
    guard let sections = ELFSections(path: "/proc/self/exe"),
      let section = sections.writable(".rodata")
    else { return nil }
    let start = getauxval(UInt(AT_ENTRY)) &- sections.entry
    let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
    let first = (start &+ section.lowerBound &+ page &- 1) / page * page
    let end = (start &+ section.upperBound) / page * page
    return first < end ? first..<end : nil
  }
}
