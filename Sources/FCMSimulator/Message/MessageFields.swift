/// The fields of `projects.messages.send`.
enum MessageFields {
  static let request = FieldType.object(["validate_only": .bool, "message": message])

  private static let message = FieldType.object([
    "name": .string, "data": .map, "notification": notification, "android": android,
    "android_v2": androidV2, "webpush": .any, "apns": .any, "fcm_options": options, "fid": .string,
    "token": .string, "topic": .string, "condition": .string,
  ])

  private static let options = FieldType.object(["analytics_label": .string])

  private static let notification = FieldType.object([
    "title": .string, "body": .string, "image": .string,
  ])

  private static let delivery: [String: FieldType] = [
    "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string, "data": .map,
    "fcm_options": options, "direct_boot_ok": .bool, "bandwidth_constrained_ok": .bool,
    "restricted_satellite_ok": .bool,
  ]

  private static let android = FieldType.object(
    delivery.merging([
      "priority": .names(["NORMAL", "HIGH"], of: "AndroidMessagePriority", lowerCase: true),
      "notification": .object(
        shown.merging([
          "bypass_proxy_notification": .bool,
          "proxy": .names(
            ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"], of: "Proxy"),
        ]) { $1 }),
    ]) { $1 })

  private static let androidV2 = FieldType.object(
    delivery.merging([
      "remote_notification": .object([
        "mutable_content": .bool, "use_as_v1_data_message": .bool,
        "notification": .object(shown.merging(["id": .int]) { $1 }),
      ]),
      "background_sync": .object([:]),
    ]) { $1 })

  private static let shown: [String: FieldType] = [
    "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string,
    "tag": .string, "click_action": .string, "body_loc_key": .string, "body_loc_args": .strings,
    "title_loc_key": .string, "title_loc_args": .strings, "channel_id": .string,
    "ticker": .string, "sticky": .bool, "event_time": .timestamp, "local_only": .bool,
    "notification_priority": .names(
      [
        "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT",
        "PRIORITY_HIGH", "PRIORITY_MAX",
      ], of: "NotificationPriority"),
    "default_sound": .bool, "default_vibrate_timings": .bool, "default_light_settings": .bool,
    "vibrate_timings": .durations,
    "visibility": .names(
      ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"], of: "Visibility"),
    "notification_count": .int, "light_settings": lightSettings, "image": .string,
  ]

  private static let lightSettings = FieldType.object([
    "color": .object(["red": .float, "green": .float, "blue": .float, "alpha": .float]),
    "light_on_duration": .duration, "light_off_duration": .duration,
  ])
}
