import PushClient
import RideCore

/// Sends pushes to APNs, and posts to the receivers of the service.
struct ServiceTransport: PushTransport {
  let pushes: PushClient
  let posts: PostClient

  func submit(_ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void) {
    guard requests.contains(where: \.isPost) else {
      return pushes.submit(requests, report: report)
    }
    let others = requests.filter { !$0.isPost }
    if !others.isEmpty { pushes.submit(others, report: report) }
    posts.submit(requests.filter(\.isPost), report: report)
  }

  func close(within limit: Duration) async {
    async let closed: Void = posts.close(within: limit)
    await pushes.close(within: limit)
    await closed
  }

  func reachability() -> [PushNetwork: Reachability] { pushes.reachability() }

  func connect(to network: PushNetwork) { pushes.connect(to: network) }
}

extension PushRequest {
  fileprivate var isPost: Bool { if case .post = address { true } else { false } }
}
