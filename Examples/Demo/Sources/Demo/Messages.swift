/// A message from the office, encoded as JSON.
struct Order: Codable, Equatable, Sendable, CustomStringConvertible {
    let number: Int
    let dish: String

    var description: String { "order \(number), \(dish)" }
}

/// A message from the rider, encoded as a property list.
struct Position: Codable, Equatable, Sendable, CustomStringConvertible {
    let number: Int
    let latitude: Double
    let longitude: Double

    var description: String { "position \(number)" }
}
