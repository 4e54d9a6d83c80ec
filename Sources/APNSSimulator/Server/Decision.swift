/// What becomes of one request: after the delay, the steps in order. No step: no answer, ever.
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
  /// `iat` of the valid provider token that came with it.
  var provenIssuedAt: Int?
}
