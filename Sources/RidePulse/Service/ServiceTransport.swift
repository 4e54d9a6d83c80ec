import PushClient
import RideCore

/// Sends the pushes of a cell over the connections of all, and its posts to their receivers.
struct ServiceTransport: PushTransport {
  let shared: SharedTransport
  /// The cell's number among those that share the connections.
  let turn: Int
  let posts: PostClient

  func submit(_ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void) {
    guard requests.contains(where: \.isPost) else {
      return shared.pushes.submit(requests, of: turn, report: report)
    }
    let others = requests.filter { !$0.isPost }
    if !others.isEmpty { shared.pushes.submit(others, of: turn, report: report) }
    posts.submit(requests.filter(\.isPost), report: report)
  }

  func close(within limit: Duration) async {
    async let closed: Void = posts.close(within: limit)
    await shared.close(within: limit)
    await closed
  }

  func reachability() -> [PushNetwork: Reachability] { shared.pushes.reachability() }

  func connect(to network: PushNetwork) { shared.pushes.connect(to: network) }
}

extension PushRequest {
  fileprivate var isPost: Bool { if case .post = address { true } else { false } }
}
