/// The service behind the wire: judges pushes, lets faults strike, records, counts.
final class Simulator {
  let options: Options
  var faults: FaultSet
  var deviceTokens: DeviceTokenRegistry
  var statistics = Statistics()
  private let recorder: Recorder
  private let providerTokens: ProviderTokenReader

  init(
    options: Options, key: SigningKey, recorder: Recorder, deviceTokens: DeviceTokenRegistry,
    faults: FaultSet
  ) {
    self.options = options
    self.recorder = recorder
    self.deviceTokens = deviceTokens
    self.faults = faults
    providerTokens = ProviderTokenReader(key: key)
  }

  func flushRecords() {
    recorder.flush()
  }

  func decide(
    _ request: PushRequest, stream: Int32, connection: Int, adoptedToken: AdoptedToken?,
    at time: WallTime
  ) -> Decision {
    if let control = controlAnswer(request) { return Decision(steps: [.answer(control)]) }
    let push = Push(request, in: context(adoptedToken, now: time.seconds))
    let judgement = Judge.judge(push)
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
    recorder.append(
      RequestRecord(
        receivedAt: time, connection: connection, stream: stream, request: request,
        token: String(push.deviceToken ?? ""), providerToken: push.providerToken,
        payload: push.payload, environment: options.environment, status: status, reason: reason,
        detail: judgement.refusal?.detail, fault: fault?.action.name, apnsID: verdict.apnsID))
    return decision
  }

  private func context(_ adoptedToken: AdoptedToken?, now: Int) -> RuleContext {
    RuleContext(
      now: now, keyID: options.keyID, teamID: options.teamID, bundleIDs: options.bundleIDs,
      environment: options.environment, deviceTokens: deviceTokens, adoptedToken: adoptedToken,
      readProviderToken: providerTokens.read)
  }

  /// Faults strike only pushes that are right: a fault must not hide a mistake of the client.
  private func strike(_ push: Push, connection: Int) -> Fault? {
    if faults.isEmpty { return nil }
    return faults.strike(
      FaultSubject(
        token: push.deviceToken?.lowercased() ?? "", topic: push.header("apns-topic") ?? "",
        connection: connection))
  }

  private func answerID(_ request: PushRequest) -> String {
    if let id = request.value("apns-id"), HeaderRules.isMessageID(id) { return id }
    return MessageID.random()
  }
}
