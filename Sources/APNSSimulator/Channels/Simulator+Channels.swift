/// Handles channel calls and broadcasts.
extension Simulator {
  func decideCall(
    _ request: PushRequest, stream: Int32, connection: Int, adoptedToken: AdoptedToken?,
    at time: WallTime
  ) -> Decision {
    let push = Push(request, in: context(adoptedToken, now: time.seconds))
    let judgement = PushRules.judge(push, by: ChannelRules.all, proven: ChannelRules.proven)
    let fault = judgement.refusal == nil ? strike(push, connection: connection) : nil
    var grant = Grant(idHeader: "apns-request-id")
    // A fault that loses the answer strikes after the call was executed; one that refuses, instead
    // of it.
    if judgement.refusal == nil, !(fault?.action.prevents(stream) ?? false), let call = push.call {
      grant = perform(call, push)
    }
    let verdict = Verdict(
      judgement.refusal, fault: fault?.action, apnsID: requestID(request), uniqueID: nil, at: time,
      grant: grant)
    let decision = Decision(
      delayMilliseconds: options.latencyMilliseconds + (fault?.delayMilliseconds ?? 0),
      steps: verdict.steps(fault?.action, stream: stream),
      provenIssuedAt: judgement.provenIssuedAt)
    let isAnswered = decision.steps.contains { if case .answer = $0 { true } else { false } }
    let status = isAnswered ? verdict.status : 0
    let reason = isAnswered ? verdict.reason : nil
    statistics.count(status: status, reason: reason)
    let record = RequestRecord(
      receivedAt: time, connection: connection, stream: stream, request: request,
      target: .call(push.call?.kind?.rawValue, channel: push.channelID ?? grant.channelID),
      providerToken: push.providerToken, payload: push.payload, environment: options.environment,
      status: status, reason: reason, detail: judgement.refusal?.detail,
      fault: fault?.action.name, apnsID: verdict.apnsID)
    recorders.of(push.call?.kind).append(record)
    return decision
  }

  private func perform(_ call: ChannelCall, _ push: Push) -> Grant {
    let id = push.channelID ?? ""
    var grant = Grant(idHeader: "apns-request-id")
    switch call.kind {
    case .create:
      let policy = push.payload?.object?["message-storage-policy"]?.integer ?? 0
      grant.status = 201
      let made = channels.create(policy: policy, app: call.bundleID)
      grant.headers = [Header(name: "apns-channel-id", value: made)]
      grant.channelID = made
    case .read:
      let policy = channels.policy(of: id, app: call.bundleID) ?? 0
      let members: [String: JSON] = [
        "message-storage-policy": .integer(policy), "push-type": .string("LiveActivity"),
      ]
      grant.body = JSON.object(members).serialized
    case .delete:
      channels.delete(id, app: call.bundleID)
      grant.status = 204
    case .list:
      let ids = channels.ids(of: call.bundleID).map { JSON.string($0) }
      grant.body = JSON.object(["channels": .array(ids)]).serialized
    case .broadcast, nil: break
    }
    return grant
  }

  private func requestID(_ request: PushRequest) -> String {
    if let id = request.value("apns-request-id"), HeaderRules.isMessageID(id) { return id }
    return MessageID.random()
  }
}

extension FaultAction {
  /// Returns whether the fault refuses the request or reports it as not processed.
  func prevents(_ stream: Int32) -> Bool {
    switch self {
    case .answer, .reset(.refusedStream): true
    case .goAway(let last, _): last.number(for: stream) < stream
    default: false
    }
  }
}
