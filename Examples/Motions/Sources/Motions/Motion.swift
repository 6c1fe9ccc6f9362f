/// The attitude of a device: three angles in radians.
struct Attitude: Equatable, Sendable {
    var pitch: Double
    var roll: Double
    var yaw: Double
}

/// A device id and the attitude of that device. It is the content of a message to `/mwm/ID/motion`.
struct Motion: Equatable, Sendable {
    let deviceID: String
    let attitude: Attitude
}
