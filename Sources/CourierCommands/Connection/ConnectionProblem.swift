package import CourierCore
import CourierTransport

/// The reason why there is no connection, in the words and with the exit codes of the mosquitto clients.
package struct ConnectionProblem: Hashable, Sendable {
    /// The line that scripts expect, in the words of the mosquitto clients.
    package let line: String
    /// Details that are not in the line, such as the host and the reason; `nil` if there are none.
    package let detail: String?
    /// True if the line contains the reason. The detail is then printed only if the error output is a terminal.
    private let namesReason: Bool
    /// The exit code of the command.
    package let exitCode: Int32

    /// Describes a refusal by the broker.
    ///
    /// - Parameter refusal: The CONNACK.
    package init(_ refusal: ConnectionWatch.Refusal) {
        let words: String
        if refusal.isVersion5 {
            let code = ReasonCode(rawValue: refusal.code)
            words =
                code == .unsupportedProtocolVersion
                ? "\(code.name). Try connecting to an MQTT v5 broker, or use MQTT v3.x mode." : code.name
        } else {
            words = "Connection Refused: \(Self.returnCodes[refusal.code] ?? "unknown reason")."
        }
        line = "Connection error: \(words)"
        detail = nil
        namesReason = true
        exitCode = Int32(refusal.code)
    }

    /// The return codes of MQTT 3.1.1 (3.2.2.3) as libmosquitto words them.
    private static let returnCodes: [UInt8: String] = [
        1: "unacceptable protocol version", 2: "identifier rejected", 3: "broker unavailable",
        4: "bad user name or password", 5: "not authorised",
    ]

    /// Describes a connection that could not be opened.
    ///
    /// - Parameter error: The error of the client.
    package init(unopened error: CourierError) {
        let cause = error.cause as? TransportError
        let system = cause.flatMap { Self.words(of: $0.code) }
        (line, exitCode) = system.map { ($0, ExitCode.failure) } ?? Self.opening(error)
        // The client's message names a property of its configuration. The added text names the matching option of
        // `courier`, because users of `courier` cannot set the property.
        detail = cause.flatMap { $0.code == .tlsUnknownAuthority ? "\($0.message) (--cafile)" : nil } ?? error.message
        namesReason = system.map { !$0.contains("TLS") } ?? false
    }

    /// Describes a lost connection.
    ///
    /// - Parameter error: The error of the client.
    package init(lost error: CourierError) {
        switch error.code {
        case .protocolViolation, .malformedPacket:
            line = "Error: A network protocol error occurred when communicating with the broker."
            exitCode = ExitCode.protocolError
        default:
            line = "Error: The connection was lost."
            exitCode = ExitCode.connectionLost
        }
        detail = error.message
        namesReason = false
    }

    /// Everything that can be printed.
    package var lines: [String] { [line] + (detail.map { [$0] } ?? []) }

    /// Prints the line. Also prints the detail if the line does not contain the reason, or if the error output is a
    /// terminal.
    package func tell(on console: Console) {
        console.tell(line)
        guard let detail else { return }
        if namesReason { console.explain(detail) } else { console.tell(detail) }
    }

    private static func opening(_ error: CourierError) -> (String, Int32) {
        switch error.code {
        case .secureConnectionFailed: return ("Error: A TLS error occurred.", ExitCode.tlsFailed)
        case .invalidConfiguration: return ("Error: Invalid input.", ExitCode.failure)
        case .timedOut: return ("Error: Connection timed out", ExitCode.failure)
        case .protocolViolation, .malformedPacket:
            return (
                "Error: A network protocol error occurred when communicating with the broker.", ExitCode.protocolError
            )
        case .storeFailed, .storeFull, .storeDamaged, .storeInUse:
            return ("Error: The message store cannot be used.", ExitCode.failure)
        default: return ("Error: The connection was lost.", ExitCode.connectionLost)
        }
    }

    /// The texts of the system's errors, as `strerror` returns them.
    private static func words(of code: TransportError.Code) -> String? {
        switch code {
        case .hostNotFound, .nameResolutionFailed: "Unable to connect (Lookup error.)."
        case .connectionRefused: "Error: Connection refused"
        case .connectTimedOut: "Error: Connection timed out"
        case .unreachable: "Error: No route to host"
        case .permissionDenied: "Error: Permission denied"
        case .socketNotFound: "Error: No such file or directory"
        case .tooManyDescriptors: "Error: Too many open files"
        case .proxyFailed, .proxyRefused, .proxyAuthenticationFailed: "Unable to connect (Proxy error.)."
        case .badCertificateFile, .badPrivateKeyFile, .wrongPassPhrase, .keyMismatch:
            "Unable to connect (A TLS error occurred.)."
        default: nil
        }
    }
}
