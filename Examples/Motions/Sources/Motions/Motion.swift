/// How a device is held: three angles in radians.
struct Attitude: Equatable, Sendable {
    var pitch: Double
    var roll: Double
    var yaw: Double
}

/// A device and how it is held: what a message to `/mwm/ID/motion` says.
struct Motion: Equatable, Sendable {
    let deviceID: String
    let attitude: Attitude
}
