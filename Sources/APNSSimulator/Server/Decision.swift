/// How a request is handled: after the delay, the steps in order; without steps it is never
/// answered.
struct Decision {
  enum Step: Equatable {
    case answer(Answer)
    case reset(ErrorCode)
    case close
    case goAway(lastStream: Int32, reason: String)
    case maximumStreams(Int)
    case blackHole
  }

  var delayMilliseconds = 0
  var steps: [Step]
  /// The `iat` of the valid provider token in the request.
  var provenIssuedAt: Int?
}
