/// The result of one check of the doctor.
struct Finding: Hashable, Sendable {
    enum State: String, Hashable, Sendable {
        /// The check passed.
        case good
        /// The connection works, but the user should know about a limit or a risk.
        case notice
        /// The check failed.
        case problem
    }

    /// The part of the connection that is checked.
    enum Check: String, Hashable, Sendable {
        case name, tcp, tls, mqtt5, mqtt311, authentication, limits, roundTrip
    }

    let check: Check
    let state: State
    /// The result, as a sentence without its full stop.
    let text: String
    /// The recommended action, as a sentence.
    let advice: String?

    static func good(_ check: Check, _ text: String) -> Finding {
        Finding(check: check, state: .good, text: text, advice: nil)
    }

    static func notice(_ check: Check, _ text: String, _ advice: String? = nil) -> Finding {
        Finding(check: check, state: .notice, text: text, advice: advice)
    }

    static func problem(_ check: Check, _ text: String, _ advice: String?) -> Finding {
        Finding(check: check, state: .problem, text: text, advice: advice)
    }
}

extension Finding.Check {
    /// The exit code of the command if this check is the first one that failed.
    var exitCode: Int32 {
        switch self {
        case .name, .tcp: ExitCode.failure
        case .tls: ExitCode.tlsFailed
        case .mqtt5, .mqtt311, .roundTrip, .limits: ExitCode.protocolError
        case .authentication: ExitCode.connectionRefused
        }
    }

    /// The name in the report.
    var title: String {
        switch self {
        case .name: "name"
        case .tcp: "TCP"
        case .tls: "TLS"
        case .mqtt5: "MQTT 5"
        case .mqtt311: "MQTT 3.1.1"
        case .authentication: "access"
        case .limits: "limits"
        case .roundTrip: "round trip"
        }
    }
}
