/// A value of `ridepulse.rides.id`.
package struct RideID: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }
}
