/// What the office sends, as JSON.
struct Order: Codable, Equatable, Sendable, CustomStringConvertible {
    let number: Int
    let dish: String

    var description: String { "order \(number), \(dish)" }
}

/// What the rider sends, as a property list.
struct Position: Codable, Equatable, Sendable, CustomStringConvertible {
    let number: Int
    let latitude: Double
    let longitude: Double

    var description: String { "position \(number)" }
}
