package import Base

/// One push that a decision plans to send.
package struct PlannedPush: Hashable, Sendable {
  /// The push's ledger entry.
  package var entry: LedgerEntry
  /// What the transport receives, once it has a ticket.
  package var request: PushRequest
  /// Whether it tries its phone's token in the other environment.
  var isProbe: Bool
  /// Whether it may go again in the other environment if APNs answers `BadDeviceToken`.
  var mayProbe: Bool
  /// Whether its sender states another environment than its phone's, where the phone's token may be
  /// called bad rightly.
  var isToOtherEnvironment = false
  /// Whether APNs called its phone's token bad the last time.
  var isToRefusedPhone: Bool
  /// Whether it is a raw push whose repetition its recipient would notice.
  var mustNotRepeat = false
  /// The ledger's reason if APNs accepts the push.
  var acceptedReason: LedgerReason?
  /// The row that its text shows, if the ride names another person by now.
  var image: RideImage?
  /// The card step, boxed: few pushes have one, and all others are half as large.
  private var boxedStep: StepBox?

  private indirect enum StepBox: Hashable, Sendable {
    case step(CardStep)
  }

  /// Creates a push whose ledger entry records the request's headers.
  init(
    entry: LedgerEntry, _ request: PushRequest, isProbe: Bool = false, mayProbe: Bool = false,
    isToRefusedPhone: Bool = false, step: CardStep? = nil, acceptedReason: LedgerReason? = nil,
    image: RideImage? = nil
  ) {
    // Each field is set once: a change of one that is set would copy the whole push.
    var (entry, request) = (entry, request)
    entry.record(request.headers)
    request.lane =
      if case .post(let post) = request.address { post.lane } else { entry.app.rawValue }
    self.entry = entry
    self.request = request
    self.isProbe = isProbe
    self.mayProbe = mayProbe
    self.isToRefusedPhone = isToRefusedPhone
    self.acceptedReason = acceptedReason
    self.image = image
    boxedStep = step.map { .step($0) }
  }

  /// What it leaves through.
  package var network: PushNetwork { request.network }
  /// The device token, registration or channel that it is sent to.
  package var address: PushAddress { request.address }
  package var headers: PushHeaders { request.headers }
  /// The JSON body.
  package var payload: [UInt8] { request.payload }
  /// The time from which it is no longer sent.
  package var validUntil: Timestamp { request.validUntil }

  package var lane: PushLane {
    if case .post(let post) = address {
      return PushLane(network: network, app: App(rawValue: post.lane))
    }
    return PushLane(network: network, app: entry.app)
  }

  package var tokenOwner: TokenOwner {
    if let phone = entry.phone, !isToOtherEnvironment { return .phone(phone) }
    return entry.recipient == .rawAddress ? .unknown : .card
  }

  /// What it does to a live card; nil if it is not sent to one.
  package var step: CardStep? {
    if case .step(let step) = boxedStep { step } else { nil }
  }
}

/// What a refusal of a push's token is recorded for.
package enum TokenOwner: Hashable, Sendable {
  /// A phone: `Phone.id`. It is in quarantine after some refusals.
  case phone(Int64)
  /// A card, or a phone on which one can be started.
  case card
  /// Nothing: a raw push to a token that no phone has in this environment. The next push to it is
  /// sent, and refused, too.
  case unknown
}

extension PlannedPush {
  /// Creates a push to a phone, taking into account what APNs reported about the phone.
  init(
    _ entry: LedgerEntry, _ headers: PushHeaders, _ payload: [UInt8], to phone: Phone,
    token: DeviceToken, validUntil: Timestamp, by configuration: EngineConfiguration,
    acceptedReason: LedgerReason? = nil, image: RideImage? = nil
  ) {
    let isProbe = phone.isProbed(by: entry)
    self.init(
      entry: entry,
      PushRequest(
        network: PushNetwork(phone.environment(of: entry, configuration)), address: .device(token),
        headers: headers, payload: payload, validUntil: validUntil),
      isProbe: isProbe, mayProbe: !isProbe && phone.mayBeProbed(configuration),
      isToRefusedPhone: (phone.problem?.refusals ?? 0) > 0, acceptedReason: acceptedReason,
      image: image)
  }
}
