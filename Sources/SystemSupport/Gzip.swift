internal import CZlib

/// Inflates gzip data piece by piece.
///
/// Several members one after another are one text, as in the output of `cat a.gz b.gz`.
@safe final class GzipInflater {
  struct Failure: Error {
    let text: String
  }

  /// zlib keeps the address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  /// Whether the last member is complete.
  private(set) var isComplete = false

  init() throws(Failure) {
    unsafe stream.initialize(to: z_stream())
    guard unsafe ridepulse_inflate_init(stream) == Z_OK else {
      throw Failure(text: "zlib can't be initialized")
    }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Returns what a piece of the file inflates to.
  func inflated(_ input: [UInt8]) throws(Failure) -> [UInt8] {
    var input = input
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    var failure: Failure?
    unsafe input.withUnsafeMutableBufferPointer { source in
      unsafe stream.pointee.next_in = source.baseAddress
      unsafe stream.pointee.avail_in = UInt32(source.count)
      while failure == nil {
        if isComplete {
          if unsafe stream.pointee.avail_in == 0 { return }
          unsafe inflateReset(stream)
          isComplete = false
        }
        let (status, count) = unsafe buffer.withUnsafeMutableBufferPointer { target in
          unsafe stream.pointee.next_out = target.baseAddress
          unsafe stream.pointee.avail_out = UInt32(target.count)
          let status = unsafe inflate(stream, Z_NO_FLUSH)
          return (status, target.count - Int(unsafe stream.pointee.avail_out))
        }
        output += buffer[..<count]
        switch status {
        case Z_STREAM_END: isComplete = true
        case Z_OK: if count < buffer.count, unsafe stream.pointee.avail_in == 0 { return }
        case Z_BUF_ERROR: return
        default: failure = Failure(text: "the gzip data is damaged")
        }
      }
    }
    if let failure { throw failure }
    return output
  }
}

/// Compresses data for a gzip file.
@safe package final class GzipDeflater {
  /// zlib keeps the address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Nil if there is no memory for it.
  package init?() {
    unsafe stream.initialize(to: z_stream())
    guard unsafe ridepulse_deflate_init(stream) == Z_OK else { return nil }
  }

  deinit {
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Returns the next bytes of the file; the last ones if `isLast` is true.
  package func deflated(_ input: [UInt8], isLast: Bool) -> [UInt8] {
    var input = input
    var output: [UInt8] = []
    unsafe input.withUnsafeMutableBufferPointer { source in
      unsafe stream.pointee.next_in = source.baseAddress
      unsafe stream.pointee.avail_in = UInt32(source.count)
      while true {
        let count = unsafe buffer.withUnsafeMutableBufferPointer { target in
          unsafe stream.pointee.next_out = target.baseAddress
          unsafe stream.pointee.avail_out = UInt32(target.count)
          _ = unsafe deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
          return target.count - Int(unsafe stream.pointee.avail_out)
        }
        output += buffer[..<count]
        if count < buffer.count { return }
      }
    }
    return output
  }
}
