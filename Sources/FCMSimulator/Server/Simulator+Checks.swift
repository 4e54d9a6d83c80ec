import SimulatorKit

extension Simulator {
  /// Checks a request in FCM's order.
  func read(
    _ request: Request, for project: String, _ record: inout SendRecord, at time: WallTime
  ) throws(Refusal) -> Message {
    let owner = try Authorization.project(of: request, tokens, at: time.seconds)
    let body = try Self.parse(request)
    record.message = body.object?["message"]
    let message = try Message(body)
    guard options.projects.contains(project) else { throw .unknownProject }
    guard owner == project else { throw .forbidden(project) }
    if case .registration(let text, _) = message.target { record.registration = text }
    try MessageRules.check(message, options.strictness)
    try checkQuotas(project, record.registration ?? "", at: time)
    try checkRegistration(message, project)
    if options.strictness.contains(.cards), !message.isOnlyValidated,
      let problem = cards.problem(of: message.data, to: record.registration ?? "")
    {
      throw .invalid("Card: \(problem)", field: "message.data")
    }
    return message
  }

  private static func parse(_ request: Request) throws(Refusal) -> JSON {
    guard request.bodyBytes == request.body.count else {
      throw .malformed("Request payload size exceeds the limit.")
    }
    do {
      return try JSONParser.parse(request.body)
    } catch {
      throw .malformed("Invalid JSON payload received. \(error.description)")
    }
  }

  private func checkQuotas(
    _ project: String, _ registration: String, at time: WallTime
  ) throws(Refusal) {
    if projectRate?.isExceeded(by: project, at: time.total) == true {
      throw .quota(
        "project:\(project)", "Quota exceeded for messages per minute and project",
        retryAfter: options.quota?.seconds ?? 60)
    }
    if deviceRate?.isExceeded(by: registration, at: time.total) == true {
      throw .quota(
        "device:\(registration.suffix(6))", "Message rate of the device exceeded",
        retryAfter: options.deviceRate?.seconds ?? 60)
    }
    projectRate?.count(project, at: time.total)
    deviceRate?.count(registration, at: time.total)
  }

  private func checkRegistration(_ message: Message, _ project: String) throws(Refusal) {
    guard case .registration(let text, let isFID) = message.target else { return }
    guard Registrations.isWellFormed(text, isFID: isFID) else {
      throw .invalid(
        "The registration token is not a valid FCM registration token",
        field: isFID ? "message.fid" : "message.token")
    }
    let known = registrations[text]
    if let owner = known?.project, owner != project { throw .otherProject }
    if let package = known?.package, let asked = message.packageName, asked != package {
      throw .invalid(
        "The package of the registration is another one",
        field: "message.android.restricted_package_name")
    }
    let isUnknown = known == nil && options.strictness.contains(.unknown)
    if isUnknown || isUninstalled(text) { throw .unregistered }
  }
}
