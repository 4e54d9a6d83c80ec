/// Rules for `POST /4/broadcasts/apps/<bundle>`, in the order in which APNs is known to check.
enum BroadcastRules {
  static let all: [Rule] =
    headers + [payloadThere, payloadSize] + form + [event] + LiveActivityRules.all

  private static let headers: [Rule] = [
    rule("the push type is there") { push in
      push.header("apns-push-type") == nil ? Refusal(.missingPushType, "no apns-push-type") : nil
    },
    rule("the push type is liveactivity") { push in
      push.pushType == .liveactivity
        ? nil : Refusal(.invalidPushType, "apns-push-type must be liveactivity")
    },
    rule("expiration is 0 or epoch seconds") { push in
      HeaderRules.isExpiration(push.header("apns-expiration") ?? "", now: push.context.now)
        ? nil : Refusal(.badExpirationDate, "apns-expiration must be 0 or a time in epoch seconds")
    },
    rule("a channel without storage stores nothing") { push in
      policy(push) == 0 && push.header("apns-expiration") != "0"
        ? Refusal(.badExpirationDate, "message-storage-policy 0 wants apns-expiration 0") : nil
    },
    rule("priority is 10, 5 or 1") { push in
      let found = push.header("apns-priority")
      return ["10", "5", "1"].contains(found)
        ? nil : Refusal(.badPriority, "apns-priority is \(found ?? "missing")")
    },
    rule("the channel was not deleted") { push in
      push.context.channels.wasDeleted(push.channelID ?? "", app: push.call?.bundleID ?? "")
        ? Refusal(.channelNotRegistered, "the channel was deleted") : nil
    },
    rule("the channel was made") { push in
      policy(push) == nil ? Refusal(.badChannelID, "no channel of the app has this ID") : nil
    },
  ]

  private static let payloadThere = rule("there is a payload") { push in
    push.request.bodyBytes == 0 ? Refusal(.payloadEmpty, "no payload") : nil
  }

  private static let payloadSize = rule("the payload is small enough") { push in
    let (found, limit) = (push.request.bodyBytes, Push.maximumBroadcastBytes)
    return found > limit ? Refusal(.payloadTooLarge, "\(found) bytes, at most \(limit)") : nil
  }

  private static let form = PayloadRules.form.map { rule($0.name, $0.check) }

  /// A channel can't start a Live Activity: phones subscribe to it from one that is running.
  private static let event = rule("the event is update or end") { push in
    ["update", "end"].contains(push.aps?["event"]?.string ?? "")
      ? nil : Refusal(.invalidPushType, "aps.event must be update or end")
  }

  private static func policy(_ push: Push) -> Int? {
    push.context.channels.policy(of: push.channelID ?? "", app: push.call?.bundleID ?? "")
  }

  private static func rule(
    _ name: String, _ check: @escaping @Sendable (Push) -> Refusal?
  ) -> Rule {
    ChannelRules.rule("broadcast: " + name, for: [.broadcast], check)
  }
}
