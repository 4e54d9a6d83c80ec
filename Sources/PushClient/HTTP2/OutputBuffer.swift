/// Collects frames into pieces of one TLS record each.
///
/// A piece that the socket did not accept must be offered again from the same address with the same
/// length, because OpenSSL has begun to encrypt it. So no bytes are moved while a piece is pending.
@safe
final class OutputBuffer {
  static let record = 16_384

  private let memory: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  private var pending = 0

  init() {
    // One record that is nearly full, and the longest frame after it.
    unsafe memory = .allocate(byteCount: 2 * Self.record + 64, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  var isEmpty: Bool { start == end }

  /// True if less than one record is buffered and the buffer may be moved.
  var hasRoom: Bool { pending == 0 && end - start < Self.record }

  func append(_ bytes: UnsafeRawBufferPointer) {
    if start > 0 {
      let kept = unsafe UnsafeRawBufferPointer(rebasing: memory[start..<end])
      unsafe memory.copyMemory(from: kept)
      end -= start
      start = 0
    }
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[end...]).copyMemory(from: bytes)
    end += bytes.count
  }

  /// Offers the next piece; the closure returns how many bytes were accepted, or nil for none now.
  func offer(_ send: (UnsafeRawBufferPointer) throws(CurlError) -> Int?) throws(CurlError) -> Int? {
    let length = pending > 0 ? pending : min(Self.record, end - start)
    let piece = unsafe UnsafeRawBufferPointer(rebasing: memory[start..<start + length])
    guard let taken = unsafe try send(piece) else {
      pending = length
      return nil
    }
    pending = 0
    start += taken
    if start == end {
      start = 0
      end = 0
    }
    return taken
  }
}
