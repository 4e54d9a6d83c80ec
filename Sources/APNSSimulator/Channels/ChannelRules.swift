import SimulatorKit

/// The rules for channel calls and broadcasts: one ordered list for all five calls.
enum ChannelRules {
  static let all: [Rule] =
    requests + CredentialRules.all + common + management + BroadcastRules.all

  /// The number of rules up to the one after which the provider token is proved valid.
  static let proven = requests.count + CredentialRules.all.count

  private static let requests: [Rule] = [
    Rule("path is known") { push in
      push.call == nil
        ? Refusal(
          .badPath,
          "expected /1/apps/<bundle>/channels or /all-channels, or "
            + "/4/broadcasts/apps/<bundle>") : nil
    },
    Rule("method suits the path") { push in
      push.call?.kind == nil
        ? Refusal(.methodNotAllowed, "\(push.request.method) is none of this path's") : nil
    },
    RequestRules.scheme,
    RequestRules.noHeaderTwice,
  ]

  private static let common: [Rule] =
    [
      Rule("the path's app is known, without a suffix") { push in
        let found = push.call?.bundleID ?? ""
        if push.context.bundleIDs.contains(found) { return nil }
        let known = push.context.bundleIDs.sorted().joined(separator: ", ")
        return Refusal(.topicDisallowed, "the path names \(found), expected one of \(known)")
      }
    ] + CredentialRules.callScope + [
      Rule("the app may broadcast") { push in
        push.context.appsWithoutBroadcast.contains(push.call?.bundleID ?? "")
          ? Refusal(.featureNotEnabled, "the app has no Broadcast Capability") : nil
      },
      Rule("request id is a lower-case UUID") { push in
        guard let id = push.header("apns-request-id") else { return nil }
        return HeaderRules.isMessageID(id)
          ? nil : Refusal(.badMessageID, "apns-request-id must be a lower-case UUID")
      },
      Rule("only headers of the call", of: .headers) { push in
        let known = (push.call?.kind?.headers ?? []) + ["authorization", "apns-request-id"]
        let stray = push.request.headers.first {
          $0.name.hasPrefix("apns-") && !known.contains($0.name)
        }
        return stray.map { Refusal(.strayHeader, "\($0.name) is not a header of this call") }
      },
      HeaderRules.contentType,
    ]

  private static let management: [Rule] = [
    rule("no body", for: [.read, .delete, .list]) { push in
      push.request.bodyBytes == 0 ? nil : Refusal(.badRequestPayload, "this call has no body")
    },
    rule("a channel is named", for: [.read, .delete, .broadcast]) { push in
      push.channelID == nil ? Refusal(.missingChannelID, "no apns-channel-id") : nil
    },
    rule("the channel is there", for: [.read, .delete]) { push in
      let (id, app) = (push.channelID ?? "", push.call?.bundleID ?? "")
      guard push.context.channels.policy(of: id, app: app) == nil else { return nil }
      return Refusal(.badPath, "\(app) has no channel \(id)")
    },
    rule("there is a body", for: [.create]) { push in
      push.request.bodyBytes == 0 ? Refusal(.payloadEmpty, "no body") : nil
    },
    rule("the body is small", for: [.create]) { push in
      push.request.bodyBytes > Push.maximumBroadcastBytes
        ? Refusal(.payloadTooLarge, "\(push.request.bodyBytes) bytes") : nil
    },
    rule("the body is a JSON object", for: [.create]) { push in
      push.payload?.object == nil ? Refusal(.badRequestPayload, "expected a JSON object") : nil
    },
    rule("only Apple's attributes", for: [.create]) { push in
      let stray = (push.payload?.object ?? [:]).keys.sorted().first {
        !["message-storage-policy", "push-type"].contains($0)
      }
      return stray.map { Refusal(.badRequestParams, "\($0) is not an attribute of a channel") }
    },
    rule("the push type is there", for: [.create]) { push in
      push.payload?.object?["push-type"] == nil ? Refusal(.missingPushType, "no push-type") : nil
    },
    rule("the push type is LiveActivity", for: [.create]) { push in
      let found = push.payload?.object?["push-type"]
      return found == .string("LiveActivity")
        ? nil : Refusal(.invalidPushType, "push-type must be \"LiveActivity\"")
    },
    rule("the storage policy is 0 or 1", for: [.create]) { push in
      let found = push.payload?.object?["message-storage-policy"]?.integer ?? -1
      return (0...1).contains(found)
        ? nil : Refusal(.badRequestParams, "message-storage-policy must be 0 or 1")
    },
    rule("there is room for one more", for: [.create]) { push in
      let (count, limit) = (
        push.context.channels.count(of: push.call?.bundleID ?? ""), push.context.channelLimit
      )
      return count < limit
        ? nil : Refusal(.cannotCreateChannelConfig, "the app has \(count) channels")
    },
  ]

  static func rule(
    _ name: String, for kinds: Set<ChannelCall.Kind>, of part: Strictness? = nil,
    _ check: @escaping @Sendable (Push) -> Refusal?
  ) -> Rule {
    Rule("channels: " + name, of: part) { push in
      guard let kind = push.call?.kind, kinds.contains(kind) else { return nil }
      return check(push)
    }
  }
}

extension ChannelCall.Kind {
  /// The `apns-` headers that the call may have in addition to those of every call.
  fileprivate var headers: [String] {
    switch self {
    case .create, .list: []
    case .read, .delete: ["apns-channel-id"]
    case .broadcast: ["apns-channel-id", "apns-push-type", "apns-expiration", "apns-priority"]
    }
  }
}

/// Rules for `POST /4/broadcasts/apps/<bundle>`, in the order in which APNs is known to check.
enum BroadcastRules {
  static let all: [Rule] =
    headers + [payloadThere, payloadSize] + PayloadRules.form.map(broadcast) + [event]
    + LiveActivityRules.all + [LiveActivityRules.dataSize]

  private static let headers: [Rule] = [
    rule("the push type is there") { push in
      push.header("apns-push-type") == nil ? Refusal(.missingPushType, "no apns-push-type") : nil
    },
    rule("the push type is liveactivity") { push in
      push.pushType == .liveactivity
        ? nil : Refusal(.invalidPushType, "apns-push-type must be liveactivity")
    },
    rule("expiration is 0 or epoch seconds") { push in
      HeaderRules.isExpiration(push.header("apns-expiration") ?? "")
        ? nil : Refusal(.badExpirationDate, "apns-expiration must be 0 or epoch seconds")
    },
    broadcast(HeaderRules.plausibleExpiration),
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

  /// A channel can't start a Live Activity: phones subscribe to it from one that is running.
  private static let event = rule("the event is update or end", of: .payloads) { push in
    ["update", "end"].contains(push.aps?["event"]?.string ?? "")
      ? nil : Refusal(.invalidPushType, "aps.event must be update or end")
  }

  private static func policy(_ push: Push) -> Int? {
    push.context.channels.policy(of: push.channelID ?? "", app: push.call?.bundleID ?? "")
  }

  private static func rule(
    _ name: String, of part: Strictness? = nil, _ check: @escaping @Sendable (Push) -> Refusal?
  ) -> Rule {
    ChannelRules.rule("broadcast: " + name, for: [.broadcast], of: part, check)
  }

  /// Returns a rule for pushes as one for broadcasts.
  private static func broadcast(_ rule: Rule) -> Rule {
    Self.rule(rule.name, of: rule.part, rule.check)
  }
}
