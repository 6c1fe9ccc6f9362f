/// What one check of the doctor has found.
struct Finding: Hashable, Sendable {
    enum State: String, Hashable, Sendable {
        /// It is as it should be.
        case good
        /// It works, and there is something to know.
        case notice
        /// It does not work.
        case problem
    }

    /// What was looked at.
    enum Check: String, Hashable, Sendable {
        case name, tcp, tls, mqtt5, mqtt311, authentication, limits, roundTrip
    }

    let check: Check
    let state: State
    /// What was found, as a sentence without its full stop.
    let text: String
    /// What to do about it, as a sentence.
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
    /// What the command ends with when this is what does not work.
    var exitCode: Int32 {
        switch self {
        case .name, .tcp: ExitCode.failure
        case .tls: ExitCode.tlsFailed
        case .mqtt5, .mqtt311, .roundTrip, .limits: ExitCode.protocolError
        case .authentication: ExitCode.connectionRefused
        }
    }

    /// What the report calls it.
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
