package import CommandArguments

/// The exit codes of the commands. They are the same as those of the mosquitto clients, so that existing scripts work.
///
/// If the broker refuses the connection, the exit code is the broker's return code or reason code instead.
package enum ExitCode {
    /// Success.
    package static let success: Int32 = 0
    /// The command line is wrong, the input or output failed, or no connection could be opened.
    package static let failure: Int32 = 1
    /// The broker violated the protocol.
    package static let protocolError: Int32 = 2
    /// The client is no longer connected.
    package static let notConnected: Int32 = 4
    /// The broker refused the connection.
    package static let connectionRefused: Int32 = 5
    /// The connection was lost.
    package static let connectionLost: Int32 = 7
    /// TLS failed.
    package static let tlsFailed: Int32 = 8
    /// The timeout of `-W` has passed. If the broker had not accepted the connection, `sub` returns ``notAccepted``
    /// instead.
    package static let timedOut: Int32 = 27
    /// A signal or the timeout of `-W` ended `sub` before the broker had accepted the connection.
    package static let notAccepted: Int32 = 255

    /// A signal ended the command. Shells use the same code.
    package static func signal(_ number: Int32) -> Int32 { 128 + number }

    /// The meanings of the codes, for the manual page.
    package static let meanings: [CommandSummary.ExitCode] = [
        .init("0", "Done."),
        .init(
            "1",
            "The command line is wrong, reading or writing failed, or no program listens at the address."),
        .init("2", "The broker violated the MQTT protocol."),
        .init(
            "3 to 5, 128 to 162",
            "The broker refused the connection with this return code (MQTT 3.1.1) or reason code (MQTT 5)."),
        .init("7", "The connection was lost."), .init("8", "TLS failed."),
        .init("27", "The time limit of -W has passed. sub ends with 27 only if the broker accepted the connection."),
        .init("130, 143", "SIGINT or SIGTERM ended the command. In this case, courier sub ends with 0."),
        .init("255", "A signal or the time limit of -W ended sub before the broker accepted the connection."),
    ]
}
