import Base

/// How urgently APNs delivers.
package enum PushPriority: Int, StoredAsRaw, Hashable, Sendable {
  /// Delivery at once.
  case immediate = 10

  /// Delivery when it suits the phone's battery; APNs may group or drop the push.
  case powerAware = 5

  /// Delivery only if it does not wake the phone.
  case unobtrusive = 1
}
