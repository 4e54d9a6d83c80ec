import Base
import PostgresStore
import RideCore

/// Formats a ride's cards for people.
struct CardLines {
  let history: RideHistory
  let zone: ZoneTimes?

  /// All of them under a heading; empty if the ride has none.
  var all: [String] {
    let lines = history.activities.flatMap(lines) + phones
    return lines.isEmpty ? [] : ["", "cards"] + lines
  }

  private func lines(_ activity: RideHistory.Activity) -> [String] {
    if activity.isAndroid {
      let at = activity.endedAt.map { " on \(local($0))" } ?? ""
      return [
        "  \(activity.activityID) of \(activity.app) \(activity.ownerID) (Android): "
          + "\(activity.endedReason ?? "ended")\(at)"
      ]
    }
    var text =
      "  \(activity.activityID) of \(activity.app) \(activity.ownerID) …\(activity.tokenSuffix), "
      + "registered \(local(activity.registeredAt))"
    if let endedAt = activity.endedAt {
      text += "; ended \(local(endedAt)): \(activity.endedReason ?? "")"
      return [text]
    }
    guard let memo = history.plan?.memo.cards[.activity(activity.id)] else { return [text] }
    return [text, "      " + state(memo, "APNs")]
  }

  /// The Android phones that show the ride's card, in the order of their IDs; they have no rows of
  /// their own.
  private var phones: [String] {
    let cards = history.plan?.memo.cards.sorted { $0.key < $1.key } ?? []
    return cards.flatMap { target, memo -> [String] in
      guard case .phone(let id) = target, let android = memo.android else { return [] }
      let line = "  on the Android phone \(id) of \(android.app)"
      return android.isOver ? [line + ": ended"] : [line, "      " + state(memo, "FCM")]
    }
  }

  private func state(_ memo: CardMemo, _ service: String) -> String {
    var state: [String] = []
    if let endsAt = memo.endsAt { state.append("end pending since \(local(endsAt))") }
    if let staleAt = memo.staleAt { state.append("fresh until \(local(staleAt))") }
    if let retryAt = memo.retryAt { state.append("retry at \(local(retryAt))") }
    if memo.isRefused {
      state.append("refused by \(service): waits for a change or a new token")
    }
    if let complaint = memo.complaint { state.append("can't be shown: \(complaint)") }
    let urgent = memo.urgentAt.count { $0 > history.now.epochSeconds - 3600 }
    state.append("\(urgent) urgent in the last hour")
    return state.joined(separator: ", ")
  }

  private func local(_ instant: Timestamp) -> String { CivilTime.local(instant, zone) }
}
