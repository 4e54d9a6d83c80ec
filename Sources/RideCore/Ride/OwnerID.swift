/// The owner of a phone: a ride's `customer_id`, its `driver_id`, or `<app>_id` in its attributes.
package struct OwnerID: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }
}
