internal import CMicrohttpd

/// Streams a listener's texts through libmicrohttpd.
enum EventStream {
  private static let blockSize = 16 * 1024

  /// Returns a streaming response; nil if no memory is left.
  static func response(_ listener: EventListener) -> OpaquePointer? {
    // UInt64.max means an unknown length. `forget` releases the listener.
    let held = unsafe Unmanaged.passRetained(listener)
    let response = unsafe MHD_create_response_from_callback(
      UInt64.max, blockSize, read, held.toOpaque(), forget)
    if unsafe response == nil { unsafe held.release() }
    return unsafe response
  }

  /// Runs on the connection's own thread, which may block.
  private static let read: MHD_ContentReaderCallback = { context, _, buffer, limit in
    let endOfStream = -1
    guard let context = unsafe context, let buffer = unsafe buffer else { return endOfStream }
    let listener = unsafe Unmanaged<EventListener>.fromOpaque(context).takeUnretainedValue()
    guard let part = listener.read(atMost: limit) else { return endOfStream }
    unsafe UnsafeMutableRawBufferPointer(start: buffer, count: limit).copyBytes(from: part)
    return part.count
  }

  private static let forget: MHD_ContentReaderFreeCallback = { context in
    guard let context = unsafe context else { return }
    unsafe Unmanaged<EventListener>.fromOpaque(context).release()
  }
}
