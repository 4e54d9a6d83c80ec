import Base
import RideCore
import Timeline

/// Formats a story for machines: one JSON object for each step and each row, and a summary.
struct StoryJSON {
  private let story: Story

  init(_ story: Story) {
    self.story = story
  }

  var text: String {
    var lines: [JSONValue] = []
    for moment in story.moments {
      let at = JSONValue.string(CivilTime.exact(moment.at))
      lines += moment.steps.map { .object(["at": at, "step": .string($0.title)]) }
      lines += moment.rows.map { row(at, $0) }
    }
    let rows = story.moments.flatMap(\.rows)
    let sent = rows.filter(\.isSent)
    lines.append(
      .object([
        "summary": .bool(true), "from": .string(CivilTime.exact(story.scenario.start)),
        "to": .string(CivilTime.exact(story.end)),
        "languages": .array(story.languages.map { .string($0) }),
        "pushes": .integer(Int64(sent.reduce(0) { $0 + $1.phones + $1.repeats })),
        "not_sent": .integer(Int64(rows.count - sent.count)),
      ]))
    return lines.map { Escape.json($0.text) + "\n" }.joined()
  }

  private func row(_ at: JSONValue, _ row: Story.Row) -> JSONValue {
    let entry = row.entry
    var members: [String: JSONValue] = [
      "at": at, "rule": .string(entry.rule), "app": .string(entry.app.rawValue),
      "event": .string(entry.event.name), "status": .string(entry.status.rawValue),
      "reason": .orNull(entry.reason?.text), "reason_code": .orNull(entry.reason?.code.word),
      "due": .orNull(row.due), "push_type": .string(entry.typeName),
      "card_event": .orNull(entry.cardEvent?.rawValue), "phones": .integer(Int64(row.phones)),
      "repeats": .integer(Int64(row.repeats)), "repeated_at": .orNull(row.repeatedAt),
    ]
    guard let push = row.push else { return .object(members) }
    members["seen"] = .bool(row.texts.contains(where: \.shown.isSeen))
    members["priority"] = .integer(Int64(push.headers.priority.rawValue))
    members["expiration"] = .integer(push.headers.expiration.epochSeconds)
    members["collapse_id"] = .orNull(push.headers.collapseID?.text)
    members["texts"] = .array(row.texts.map(text))
    members["payload"] = JSONValue(json: push.payload) ?? .null
    return .object(members)
  }

  private func text(_ text: Story.Text) -> JSONValue {
    let shown = text.shown
    var members: [String: JSONValue] = [
      "languages": .array(text.languages.map { .string($0) }), "title": .orNull(shown.title),
      "subtitle": .orNull(shown.subtitle), "body": .orNull(shown.body),
      "sound": .orNull(shown.sound), "interruption_level": .orNull(shown.level),
      "badge": .orNull(shown.badge), "dismissed_at": .orNull(shown.dismissedAt),
      "fields": .object(
        Dictionary(shown.fields.map { ($0.name, .string($0.value)) }) { first, _ in first }),
    ]
    if let android = shown.android {
      members["android"] = .object([
        "channel": .orNull(android.channel), "drawn_by": .orNull(android.drawing?.rawValue),
        "priority": .string(android.isHighPriority ? "HIGH" : "NORMAL"), "look": android.look,
      ])
    }
    return .object(members)
  }
}
