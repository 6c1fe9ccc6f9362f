/// An order of a customer.
struct Order: Codable, Sendable {
    static let topic = "shop/orders"

    let number: Int
    let customer: String
    let cents: Int
}
