/// Judges pushes, applies faults, records and counts; independent of the network.
final class Simulator {
  let options: Options
  var faults: FaultSet
  var deviceTokens: DeviceTokenRegistry
  var statistics = Statistics()
  var channels: ChannelRegistry {
    didSet { hasNewChannels = true }
  }
  let recorders: Recorders
  private let channelsPath: String
  private var hasNewChannels = false
  private let providerTokens: ProviderTokenReader

  init(
    options: Options, key: SigningKey, state: StateDirectory, deviceTokens: DeviceTokenRegistry,
    channels: ChannelRegistry, faults: FaultSet
  ) throws {
    self.options = options
    recorders = try Recorders(state)
    self.channels = channels
    channelsPath = state.channelsPath
    self.deviceTokens = deviceTokens
    self.faults = faults
    providerTokens = ProviderTokenReader(key: key)
  }

  /// Writes records and channels before any answer of the turn is sent, so that a client that has
  /// the answer finds them.
  func flushRecords() {
    recorders.flush()
    guard hasNewChannels else { return }
    hasNewChannels = false
    do {
      try File.write(channels.json.serialized, to: channelsPath, mode: 0o600)
    } catch {
      Log.write("\(error)")
    }
  }

  func decide(
    _ request: PushRequest, stream: Int32, connection: Int, adoptedToken: AdoptedToken?,
    at time: WallTime
  ) -> Decision {
    if let control = controlAnswer(request) { return Decision(steps: [.answer(control)]) }
    if ChannelCall.owns(request.path) {
      return decideCall(
        request, stream: stream, connection: connection, adoptedToken: adoptedToken, at: time)
    }
    let push = Push(request, in: context(adoptedToken, now: time.seconds))
    let judgement = PushRules.judge(push)
    let fault = judgement.refusal == nil ? strike(push, connection: connection) : nil
    let verdict = Verdict(
      judgement.refusal, fault: fault?.action, apnsID: answerID(request),
      uniqueID: options.environment == .sandbox ? MessageID.random() : nil, at: time)
    let decision = Decision(
      delayMilliseconds: options.latencyMilliseconds + (fault?.delayMilliseconds ?? 0),
      steps: verdict.steps(fault?.action, stream: stream),
      provenIssuedAt: judgement.provenIssuedAt)
    let isAnswered = decision.steps.contains { if case .answer = $0 { true } else { false } }
    let status = isAnswered ? verdict.status : 0
    let reason = isAnswered ? verdict.reason : nil
    statistics.count(status: status, reason: reason)
    recorders.pushes.append(
      RequestRecord(
        receivedAt: time, connection: connection, stream: stream, request: request,
        target: .token(String(push.deviceToken ?? "")), providerToken: push.providerToken,
        payload: push.payload, environment: options.environment, status: status, reason: reason,
        detail: judgement.refusal?.detail, fault: fault?.action.name, apnsID: verdict.apnsID))
    return decision
  }

  func context(_ adoptedToken: AdoptedToken?, now: Int) -> RuleContext {
    var context = RuleContext(
      now: now, keyID: options.keyID, teamID: options.teamID, bundleIDs: options.bundleIDs,
      environment: options.environment, deviceTokens: deviceTokens, adoptedToken: adoptedToken,
      readProviderToken: providerTokens.read)
    context.channels = channels
    context.channelLimit = options.channelLimit
    context.appsWithoutBroadcast = options.appsWithoutBroadcast
    return context
  }

  /// Returns the fault that strikes a push.
  ///
  /// To be called only for correct pushes: a fault must not hide a mistake of the client.
  func strike(_ push: Push, connection: Int) -> Fault? {
    if faults.isEmpty { return nil }
    return faults.strike(
      FaultSubject(
        token: push.deviceToken?.lowercased() ?? "",
        topic: push.header("apns-topic") ?? push.call?.bundleID ?? "", connection: connection,
        call: push.call?.kind?.rawValue ?? "push", channel: push.channelID))
  }

  private func answerID(_ request: PushRequest) -> String {
    if let id = request.value("apns-id"), HeaderRules.isMessageID(id) { return id }
    return MessageID.random()
  }
}
