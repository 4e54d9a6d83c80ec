import Foundation

/// Reports from a process that is not the app that an alert was displayed: the notification service extension.
public struct ReceiptReporter: Sendable {
  private let configuration: KitConfiguration
  private let transport: any CallTransport

  /// Creates a reporter; the configuration has the same folder and app as the app's.
  public init(
    _ configuration: KitConfiguration,
    transport: any CallTransport = URLSessionTransport(timeout: 5)
  ) {
    (self.configuration, self.transport) = (configuration, transport)
  }

  /// Stores the receipt for the app and tries once to send it, at most for a time: what is not sent
  /// by then, the app sends when it runs next.
  public func report(_ apnsID: String, within limit: Duration) async {
    let stored = QueueFile(folder: configuration.folder).read()
    if case .locked(let reason) = stored { configuration.onEvent(.notRead(reason)) }
    guard case .queue(let queue) = stored, let session = queue.session else {
      return configuration.onEvent(.dropped("seen \(apnsID)", "no person is known"))
    }
    let receipts = ReceiptFolder(folder: configuration.folder)
    do {
      try receipts.add(
        ReceiptFolder.Receipt(id: apnsID, session: session.number, owner: session.owner))
    } catch { configuration.onEvent(.notSaved("\(error)")) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await send(apnsID, session, receipts) }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
  }

  private func send(_ id: String, _ session: Session, _ receipts: ReceiptFolder) async {
    var queue = CallQueue()
    queue.session = session
    queue.begin(CallQueue.Identity(app: configuration.app, process: UUID().uuidString))
    queue.add(.seen(id), at: Date())
    guard let call = queue.calls.first else { return }
    switch await CallSender(configuration: configuration, transport: transport)
      .send(call, leaves: { true })
    {
    case .done: receipts.remove(id)
    case .refused(let reason):
      receipts.remove(id)
      configuration.onEvent(.refused(call.report.name, reason))
    case .failed(let reason, _, _):
      configuration.onEvent(.retrying(call.report.name, reason, 0))
    }
  }
}
