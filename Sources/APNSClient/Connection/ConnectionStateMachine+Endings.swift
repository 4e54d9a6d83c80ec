import RideCore

extension ConnectionStateMachine {
  /// How a stream ends for its push.
  enum Ending {
    /// The push is done.
    case report(Push, PushOutcome)

    /// APNs provably did not process it: another connection may, unless it was tried too often.
    case again(QueuedRequest<Push>, UnsentCause)
  }

  /// HTTP/2's `REFUSED_STREAM`: not processed at all (RFC 9113, 8.7).
  static var refusedStream: UInt32 { 0x7 }

  /// The server ended a stream; `errorName` is what HTTP/2 calls the code.
  mutating func closed(_ slot: Int, id: Int32, code: UInt32, errorName: String, wall: Timestamp)
    -> (ending: Ending, tokenExpired: Bool, refusal: Refusal?)?
  {
    guard let stream = streams.remove(slot, id: id) else { return nil }
    // A status that came is not hidden by what became of the stream after it.
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
    // Without a code the server ended its answer, in which there was no status.
    let name = code == 0 ? "PROTOCOL_ERROR" : errorName
    return (.report(stream.waiting.push, .unanswered(.reset(name))), false, nil)
  }

  /// A stream's headers never left, because the server takes no more streams.
  mutating func notSent(_ slot: Int, id: Int32) -> Ending? {
    guard let stream = streams.remove(slot, id: id) else { return nil }
    return .again(stream.waiting, .goAway(reason: goAway?.reason))
  }

  /// The connection is gone; `sent` is how many of the produced bytes were handed to it.
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

  /// A push is whole only with the end of its body, so one of which no body byte was handed over
  /// can't have been processed.
  private static func hasLeft(_ stream: StreamTable<Push>.Stream, sent: Int) -> Bool {
    guard let bodyStart = stream.bodyStart else { return false }
    return sent > bodyStart
  }
}
