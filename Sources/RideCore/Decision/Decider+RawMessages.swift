import Base

// Raw pushes to Android phones, which leave through FCM.
extension Decider {
  /// Returns a push to an Android phone, which leaves through FCM.
  func message(
    _ push: RawPush, _ entry: LedgerEntry, to registration: FCMRegistration, _ phone: Phone?,
    validUntil: Timestamp
  ) throws(Planner.Problem) -> PlannedPush {
    try Planner.checkServiceAccount(of: push.app, configuration)
    let message = RawMessage(JSONValue(json: push.payload.utf8))
    let own = entry.id.description
    let collapse = push.collapseID ?? message.tag.flatMap { CollapseID($0) } ?? CollapseID(own)
    let isStored = push.mayBeStored
    let body = message.body(
      id: entry.id, tag: collapse?.text ?? own, to: registration,
      isHighPriority: push.priority == .immediate, ttl: isStored ? validUntil - now : .zero)
    if let problem = AndroidSize.problem(of: body) {
      throw Planner.Problem(status: .rejected, reason: problem)
    }
    try Planner.check(body, atMost: PushRequest.messageLimit)
    let headers = PushHeaders(
      id: entry.id, topic: "", pushType: entry.pushType, priority: push.priority,
      expiration: isStored ? .at(validUntil) : .neverStore, collapseID: collapse)
    var planned = PlannedPush(
      entry: entry,
      PushRequest(
        network: .android, address: .registration(registration), headers: headers, payload: body,
        validUntil: validUntil))
    planned.isToRefusedPhone = (phone?.problem?.refusals ?? 0) > 0
    return planned
  }
}
