import Base
import RideCore
import SimulatorKit

/// The inbox of a simulator on its web port: a page for people, and calls for tests.
final class InboxSite: WebSite {
  private let inbox: MessageInbox
  private let service: String
  private let view: InboxView
  private let guardian: HostCheck
  private let control: (Request, WallTime) -> Answer?

  init(
    _ inbox: MessageInbox, of service: String, for platform: Platform, at endpoint: Endpoint,
    control: @escaping (Request, WallTime) -> Answer?
  ) {
    self.inbox = inbox
    self.service = service
    view = InboxView(inbox, platform, DrawnScreens(inbox, platform))
    self.control = control
    guardian = HostCheck(isLoopback: endpoint.isLoopback)
  }

  var revision: Int { inbox.revision }

  func respond(to request: Request, at time: WallTime) -> WebResponse {
    if let problem = guardian.problem(with: request) { return .answer(.refusal(403, problem)) }
    let path = String(request.path.prefix { $0 != "?" })
    if request.method == "GET" {
      if let file = InboxFile.answer(at: path) { return .answer(file) }
      do throws(MessageQuery.Fault) {
        switch path {
        case "/messages": return messages(try MessageQuery(request.path))
        case "/inbox.json": return changes(try MessageQuery(request.path))
        default: break
        }
      } catch {
        return .answer(.refusal(400, error.description))
      }
    }
    if let answer = control(request, time) { return .answer(answer) }
    return .answer(.refusal(404, "no such call: \(request.method) \(path)"))
  }

  /// Answers once a message matches, or with none when the time is over.
  private func messages(_ query: MessageQuery) -> WebResponse {
    var next = query.after + 1
    let find = { [inbox] (isOver: Bool) -> Answer? in
      let found = inbox.messages(from: next).filter(query.matches)
      // What does not match now never will.
      next = max(next, inbox.nextSequence)
      if found.isEmpty, !isOver { return nil }
      return self.answer(found.suffix(Self.mostMessages), of: found.count, query)
    }
    return respond(query, find)
  }

  private func respond(
    _ query: MessageQuery, _ find: @escaping (Bool) -> Answer?
  ) -> WebResponse {
    if let answer = find(query.waitMilliseconds == 0) { return .answer(answer) }
    return .wait(milliseconds: query.waitMilliseconds, find)
  }

  private static let mostMessages = 1_000

  private func answer(
    _ found: ArraySlice<InboxMessage>, of count: Int, _ query: MessageQuery
  ) -> Answer {
    var screens = query.hasScreen ? view.screens(of: found) : [:]
    // Only the newest message of each phone has its screen, which is large.
    var screenOf: [Int: [UInt8]] = [:]
    for message in found.reversed() {
      screenOf[message.sequence] = screens.removeValue(forKey: message.address.owner)
    }
    var body = Array("[".utf8)
    for message in found {
      if body.count > 1 { body += ",\n".utf8 }
      message.append(to: &body, screen: screenOf[message.sequence])
    }
    body += "]\n".utf8
    // What is not in the answer, although it was asked for.
    let left = count - found.count + max(0, inbox.oldest - query.after - 1)
    let headers = [
      Header(name: "content-type", value: "application/json"),
      Header(name: "inbox-left-out", value: "\(left)"),
    ]
    return Answer(status: 200, headers: headers, body: body)
  }

  /// Answers with what has changed since a revision.
  private func changes(_ query: MessageQuery) -> WebResponse {
    respond(query) { [inbox, view, service] isOver in
      // One that is ahead asked a simulator that has ended.
      if inbox.revision == query.after, !isOver { return nil }
      let json = view.changes(query, of: service, at: .now())
      let type = Header(name: "content-type", value: "application/json")
      return Answer(status: 200, headers: [type], body: json)
    }
  }
}

extension Answer {
  fileprivate static func refusal(_ status: Int, _ problem: String) -> Answer {
    Answer(status: status, json: .object(["error": .string(problem)]))
  }
}
