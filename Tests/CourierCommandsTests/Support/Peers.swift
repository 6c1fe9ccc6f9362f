import TestSupport

/// The two programs that must behave equally.
enum Peer: String, CaseIterable, Sendable {
    case mosquitto, courier

    /// The words that start a command: `pub`, `sub` or `rr`.
    func words(_ command: String) throws -> [String] {
        switch self {
        case .mosquitto: ["/usr/bin/mosquitto_\(command)"]
        case .courier: [try CourierExecutable.path.get(), command]
        }
    }
}
