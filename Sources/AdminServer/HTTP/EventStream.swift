internal import CMicrohttpd

/// Hands what a listener hears to libmicrohttpd, for as long as both live.
enum EventStream {
  private static let blockSize = 16 * 1024

  /// The response; nil where memory is out.
  static func response(_ listener: EventListener) -> OpaquePointer? {
    // UInt64.max: nobody knows how long it will be. `forget` takes the listener back.
    let held = unsafe Unmanaged.passRetained(listener)
    let response = unsafe MHD_create_response_from_callback(
      UInt64.max, blockSize, read, held.toOpaque(), forget)
    if unsafe response == nil { unsafe held.release() }
    return unsafe response
  }

  /// Called on the connection's own thread, which may wait.
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
