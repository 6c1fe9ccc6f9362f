import Foundation

/// The geographic area that contains all vehicles that were included.
struct Bounds: Equatable, Sendable {
    /// The part of the size that is added beyond a new position, so that the map does not change with every message.
    private static let margin = 0.06

    private(set) var south = 0.0
    private(set) var north = 0.0
    private(set) var west = 0.0
    private(set) var east = 0.0
    private var isEmpty = true

    mutating func include(_ vehicles: [Sighting]) {
        let latitudes = vehicles.lazy.map(\.latitude)
        let longitudes = vehicles.lazy.map(\.longitude)
        guard let low = latitudes.min(), let high = latitudes.max(), let left = longitudes.min(),
            let right = longitudes.max()
        else { return }
        guard isEmpty || low < south || high > north || left < west || right > east else { return }
        let (tall, wide) = ((high - low) * Self.margin + 0.002, (right - left) * Self.margin + 0.004)
        if isEmpty || low < south { south = low - tall }
        if isEmpty || high > north { north = high + tall }
        if isEmpty || left < west { west = left - wide }
        if isEmpty || right > east { east = right + wide }
        isEmpty = false
    }

    /// Returns a vehicle's position on a map of this size in dots. A degree of longitude is shorter than a degree of
    /// latitude.
    func dot(_ vehicle: Sighting, width: Int, height: Int) -> (x: Int, y: Int) {
        let shrink = cos((south + north) / 2 * .pi / 180)
        let scale = min(Double(width) / max((east - west) * shrink, 1e-9), Double(height) / max(north - south, 1e-9))
        let x = Double(width) / 2 + (vehicle.longitude - (west + east) / 2) * shrink * scale
        let y = Double(height) / 2 - (vehicle.latitude - (south + north) / 2) * scale
        return (Int(x.rounded(.down)), Int(y.rounded(.down)))
    }
}
