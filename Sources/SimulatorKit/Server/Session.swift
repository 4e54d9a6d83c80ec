/// The protocol of a connection: consumes and produces bytes, and puts requests in its table.
protocol Session: AnyObject {
  var streams: StreamTable { get }
  /// True if no more is to be read or sent.
  var isOver: Bool { get }

  /// Queues what the server sends first.
  ///
  /// - Parameter maximumStreams: The stream limit to announce; nil announces nothing, ever.
  func begin(maximumStreams: Int?)
  /// Processes received bytes; returns what is wrong if the peer violated the protocol beyond
  /// recovery.
  func receive(_ bytes: UnsafeRawBufferPointer) -> String?
  /// Appends the next part of what is to be sent.
  func write(to output: inout OutputBuffer) -> SessionOutput
  /// Returns false if the client has reset the stream; a delayed answer then has no receiver.
  func isOpen(_ stream: Int32) -> Bool
  /// - Parameter isWhole: False breaks off in the middle of the body.
  func answer(_ stream: Int32, _ answer: Answer, isWhole: Bool)
  /// Sends the one answer of sink mode, without allocation.
  func accept(_ stream: Int32, _ acceptance: Acceptance)
  func setMaximumStreams(_ count: Int)
  func reset(_ stream: Int32, _ code: UInt32)
  func goAway(lastStream: Int32, data: [UInt8])
}

enum SessionOutput {
  case some
  case none
  /// An error ended the session.
  case failed
}
