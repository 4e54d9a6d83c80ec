import Inbox
import SimulatorKit

/// Validates requests, applies faults, records and counts; independent of the network.
final class Simulator: Service {
  let options: Options
  var faults: FaultControl
  private(set) var deviceTokens: DeviceTokenRegistry
  var statistics = Statistics()
  private var channels: ChannelRegistry {
    didSet { hasNewChannels = true }
  }
  /// The last update or end of each card and channel, by what the request addresses.
  private var cardPushes: [String: CardPush] = [:]
  private var rate: TokenRateLimiter?
  var devices = OfflineDevices()
  private var keyWarnings = KeyWarnings()
  let recorders: Recorders
  /// Nil unless it is asked for.
  let inbox: MessageInbox?
  /// What was decided about pushes since they were last shown in the inbox.
  var decided: [Delivery] = []
  private let channelsPath: String
  private var hasNewChannels = false
  private var keys: KeyRing
  private var providerTokens: ProviderTokenReader

  init(
    options: Options, keys: KeyFile.Keys, state: StateDirectory, deviceTokens: DeviceTokenRegistry,
    channels: ChannelRegistry, faults: FaultControl, inbox: MessageInbox? = nil
  ) throws {
    self.options = options
    self.inbox = inbox
    rate = options.tokenRate.map(TokenRateLimiter.init)
    recorders = try Recorders(state)
    self.channels = channels
    channelsPath = state.channelsPath
    self.deviceTokens = deviceTokens
    self.faults = faults
    self.keys = keys.ring
    providerTokens = ProviderTokenReader(keys: keys.verification)
  }

  func peer(connection: Int) -> any Peer { ClientPeer(connection: connection, simulator: self) }

  func rereadFaults(_ path: String) {
    do {
      try faults.read(file: path)
      log("\(path): \(faults.count) faults in force")
    } catch {
      Log.write("\(error); the old faults stay")
    }
  }

  func reread(_ file: KeyFile) {
    do {
      guard let keys = try file.readChanged() else { return }
      use(keys)
      log("\(file.path): keys \(keys.ring.ids.joined(separator: ", ")) in force")
    } catch {
      Log.write("\(error); the old keys stay")
    }
  }

  private func log(_ text: String) {
    if !options.isQuiet { Log.write(text) }
  }

  /// Replaces all keys; what was cached about provider tokens is dropped with the old ones.
  private func use(_ keys: KeyFile.Keys) {
    self.keys = keys.ring
    providerTokens = ProviderTokenReader(keys: keys.verification)
  }

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

  /// Returns the reaction, and the valid provider token in the request.
  func decide(
    _ request: Request, stream: Int32, from client: Client, at time: WallTime
  ) -> (Reaction, provenToken: TokenIdentity?) {
    if let control = controlAnswer(request, at: time) {
      return (Reaction(steps: [.answer(control)]), nil)
    }
    let push = Push(request, in: context(request, client, at: time))
    let isCall = ChannelCall.owns(request.path)
    let call = isCall ? push.call : nil
    let result =
      isCall
      ? PushRules.evaluate(push, by: ChannelRules.all, proven: ChannelRules.proven)
      : PushRules.evaluate(push)
    let fault = result.refusal == nil ? strike(push, connection: client.number) : nil
    var grant = Grant(idHeader: isCall ? "apns-request-id" : "apns-id")
    let apnsID = answerID(request, header: grant.idHeader)
    // A fault that loses the answer strikes after the call was executed; one that refuses, instead
    // of it.
    let isProcessed = result.refusal == nil && !(fault?.action.prevents(stream) ?? false)
    if isProcessed {
      process(push, call, apnsID, dropped: result.dropped, &grant, at: time)
    }
    // Apple has the ID for pushes in the sandbox, and for broadcasts everywhere.
    let hasUniqueID = isCall ? call?.kind == .broadcast : options.environment == .sandbox
    let verdict = Verdict(
      result.refusal, dropped: result.dropped, fault: fault?.action, apnsID: apnsID,
      uniqueID: hasUniqueID ? MessageID.random() : nil, at: time, grant: grant)
    let reaction = Reaction(
      delayMilliseconds: options.latencyMilliseconds + (fault?.delayMilliseconds ?? 0),
      steps: verdict.steps(fault?.action, stream: stream))
    let status = reaction.isAnswered ? verdict.status : 0
    let reason = reaction.isAnswered ? verdict.reason : nil
    statistics.count(status: status, reason: reason)
    let record = RequestRecord(
      receivedAt: time, client: client, stream: stream, request: request,
      target: isCall
        ? .call(call?.kind?.rawValue, channel: push.channelID ?? grant.channelID)
        : .token(String(push.deviceToken ?? "")),
      providerToken: push.providerToken, payload: push.payload, environment: options.environment,
      status: status, reason: reason, detail: result.refusal?.detail, dropped: result.dropped,
      fault: fault?.action.word.rawValue, apnsID: verdict.apnsID, uniqueID: verdict.uniqueID)
    (isCall ? recorders.of(call?.kind) : recorders.pushes).append(record.write)
    if let inbox { show(record, of: push, call, isProcessed: isProcessed, in: inbox) }
    return (reaction, result.provenToken)
  }

  private func context(_ request: Request, _ client: Client, at time: WallTime) -> RuleContext {
    var context = RuleContext(
      now: time.seconds, keys: keys, bundleIDs: options.bundleIDs,
      environment: options.environment, deviceTokens: deviceTokens,
      strictness: options.strictness, adoptedToken: client.adoptedToken,
      certificate: client.certificate, readProviderToken: providerTokens.read)
    context.channels = channels
    context.channelLimit = options.channelLimit
    context.appsWithoutBroadcast = options.appsWithoutBroadcast
    // Looked up here, because a copy of these tables in each context would make each change copy
    // them.
    if !cardPushes.isEmpty {
      context.lastCardPush = cardPushes[CardPush.target(of: request)]
    }
    if let rate {
      context.isOverTokenRate = rate.isExceeded(by: request.path.lowercased(), at: time.total)
    }
    return context
  }

  /// Applies an accepted push or call to the simulator's state.
  private func process(
    _ push: Push, _ call: ChannelCall?, _ apnsID: String, dropped: String?,
    _ grant: inout Grant, at time: WallTime
  ) {
    for warning in keyWarnings.next(for: push) { log("warning: \(warning)") }
    if let dropped {
      log("\(grant.idHeader) \(apnsID): the phone drops it: \(dropped)")
    } else if let card = CardPush(push) {
      cardPushes[CardPush.target(of: push.request)] = card
    }
    if let call { return perform(call, push, &grant) }
    rate?.count(push.request.path.lowercased(), at: time.total)
    if devices.isEmpty { return }
    var members: [String: JSON] = ["push_type": .string(push.pushType?.rawValue ?? "")]
    members["topic"] = push.topic.map { .string($0) }
    members["collapse_id"] = push.header("apns-collapse-id").map { .string($0) }
    members["payload"] = push.payload
    var accepted = AcceptedPush(
      apnsID: apnsID, acceptedAt: time,
      expiration: push.header("apns-expiration").flatMap { Int($0) }, members: members)
    if let inbox, dropped == nil { accepted.number = inbox.nextSequence }
    let token = push.deviceToken?.lowercased() ?? ""
    for delivery in devices.accept(accepted, for: token) {
      recorders.deliveries.append(delivery.json)
      if inbox != nil { decided.append(delivery) }
    }
  }

  /// Returns the fault that strikes a push.
  ///
  /// To be called only for correct pushes: a fault must not hide a mistake of the client.
  private func strike(_ push: Push, connection: Int) -> Fault? {
    if faults.isEmpty { return nil }
    var values = [
      "token": push.deviceToken?.lowercased() ?? "",
      "topic": push.topic ?? push.call?.bundleID ?? "",
      "call": push.call?.kind?.rawValue ?? "push",
    ]
    values["channel"] = push.channelID
    return faults.strike(FaultSubject(connection: connection, values: values))
  }

  private func answerID(_ request: Request, header: String) -> String {
    if let id = request.value(header), HeaderRules.isMessageID(id) { return id }
    return MessageID.random()
  }

  private func perform(_ call: ChannelCall, _ push: Push, _ grant: inout Grant) {
    let id = push.channelID ?? ""
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
  }

  /// Executes a control call of a test; returns nil for any path except `/simulator/…` and
  /// `/devices/…`.
  func controlAnswer(_ request: Request, at time: WallTime) -> Answer? {
    let isDeviceCall = request.path.hasPrefix("/devices/")
    guard isDeviceCall || request.path.hasPrefix("/simulator/") else { return nil }
    // Sink mode examines only paths; in it every control call returns the statistics.
    let call = options.isSink ? "GET /simulator/stats" : "\(request.method) \(request.path)"
    do {
      let result =
        isDeviceCall
        ? try executeDeviceCall(request, at: time) : try executeControl(call, request.body)
      return Answer(status: 200, json: result)
    } catch let error as FormatError {
      return Answer(status: 400, json: .object(["error": .string(error.description)]))
    } catch {
      return Answer(status: 404, json: .object(["error": .string("no such call: \(call)")]))
    }
  }

  struct UnknownCall: Error {}

  private func executeControl(_ call: String, _ body: [UInt8]) throws -> JSON {
    if let result = try faults.execute(call, body) { return result }
    switch call {
    case "GET /simulator/stats":
      return statistics.json
    case "POST /simulator/tokens":
      deviceTokens.merge(try DeviceTokenRegistry(text: body))
      return .object(["tokens": .integer(deviceTokens.count)])
    case "DELETE /simulator/tokens":
      deviceTokens = DeviceTokenRegistry()
      return .object(["tokens": .integer(0)])
    default:
      throw UnknownCall()
    }
  }
}
