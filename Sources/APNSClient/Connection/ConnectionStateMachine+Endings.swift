import RideCore

extension ConnectionStateMachine {
  /// How the end of a stream affects its push.
  enum Ending {
    /// The push is done.
    case report(Push, PushOutcome)

    /// APNs provably did not process the push: it may be sent again, up to the resend limit.
    case again(QueuedRequest<Push>, UnsentCause)
  }

  /// HTTP/2's `REFUSED_STREAM`: the request was not processed at all (RFC 9113, 8.7).
  static var refusedStream: UInt32 { 0x7 }

  /// Handles the close of a stream by the server; `errorName` is the HTTP/2 name of the code.
  mutating func closed(_ slot: Int, id: Int32, code: UInt32, errorName: String, wall: Timestamp)
    -> (ending: Ending, tokenExpired: Bool, refusal: Refusal?)?
  {
    guard let stream = streams.remove(slot, id: id) else { return nil }
    // A status that was received counts, however the stream ended afterwards.
    if let outcome = stream.answer.outcome(at: wall) {
      let expired = answered(outcome)
      guard case .refused(let refusal) = outcome else {
        return (.report(stream.waiting.push, outcome), expired, nil)
      }
      if refusal.rule.push == .elsewhere {
        return (.again(stream.waiting, .turnedAway(refusal)), expired, refusal)
      }
      return (.report(stream.waiting.push, outcome), expired, refusal)
    }
    if code == Self.refusedStream {
      if let goAway, id > goAway.lastStream {
        return (.again(stream.waiting, .goAway(reason: goAway.reason)), false, nil)
      }
      return (.again(stream.waiting, .refusedStream), false, nil)
    }
    // With code 0 the server ended its answer without a status.
    let name = code == 0 ? "PROTOCOL_ERROR" : errorName
    return (.report(stream.waiting.push, .unanswered(.reset(name))), false, nil)
  }

  /// Handles a stream whose headers were never sent because the server accepts no more streams.
  mutating func notSent(_ slot: Int, id: Int32) -> Ending? {
    guard let stream = streams.remove(slot, id: id) else { return nil }
    return .again(stream.waiting, .goAway(reason: goAway?.reason))
  }

  /// Ends all streams of a lost connection.
  ///
  /// `sent` is the number of produced bytes that the socket accepted.
  mutating func lost(_ why: String, sent: Int, wall: Timestamp) -> [Ending] {
    drain(why)
    return streams.used.compactMap { slot in
      guard let id = streams[slot]?.id, let stream = streams.remove(slot, id: id) else {
        return nil
      }
      if let outcome = stream.answer.outcome(at: wall) {
        return .report(stream.waiting.push, outcome)
      }
      if let goAway, id > goAway.lastStream {
        return .again(stream.waiting, .goAway(reason: goAway.reason))
      }
      guard Self.hasLeft(stream, sent: sent) else {
        return .again(stream.waiting, .noConnection(why))
      }
      return .report(stream.waiting.push, .unanswered(.connectionLost(why)))
    }
  }

  func ending(
    of stream: StreamTable<Push>.Stream, unanswered: UnansweredCause, unsent: UnsentCause,
    sent: Int
  ) -> Ending {
    let left = Self.hasLeft(stream, sent: sent)
    return .report(stream.waiting.push, left ? .unanswered(unanswered) : .unsent(unsent))
  }

  /// Returns whether the push may have been processed.
  ///
  /// A request is complete only with the end of its body, so APNs can't have processed a push if no
  /// byte of its body was handed to the socket.
  private static func hasLeft(_ stream: StreamTable<Push>.Stream, sent: Int) -> Bool {
    guard let bodyStart = stream.bodyStart else { return false }
    return sent > bodyStart
  }
}
