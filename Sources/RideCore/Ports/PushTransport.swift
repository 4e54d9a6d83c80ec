/// The way to APNs.
package protocol PushTransport: Sendable {
  /// Takes pushes and returns at once; each ends in exactly one report, within its deadline.
  ///
  /// Reports come in groups, in the order in which the pushes end, on a thread of the transport's
  /// own: `report` must not block. A push that is submitted after `close` is reported `unsent`.
  func submit(_ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void)

  /// Takes no more pushes, gives those in flight this long to be answered, and ends.
  func close(within limit: Duration) async
}
