import CourierCore
import CourierTransport
import MQTTCodec

/// Advice for the user about the problems that the doctor finds.
enum Advice {
    /// The kind of connection to the broker.
    enum Way {
        case tcp(port: UInt16), socket, proxy
    }

    /// Returns advice for the case that no connection to the broker's address can be opened.
    static func unreachable(_ code: TransportError.Code, by way: Way) -> String {
        switch (code, way) {
        case (.connectionRefused, .tcp(let port)):
            "The machine is reachable, but no program listens on port \(port). "
                + "Start the broker, or correct the port (-p)."
        case (.connectionRefused, .socket):
            "No program listens on the socket. Probably the broker has ended. Start the broker, or correct the path."
        case (.connectionRefused, .proxy):
            "The proxy's machine is reachable, but no program listens on its port. Start the proxy, or correct --proxy."
        case (.connectTimedOut, .tcp(let port)):
            "The machine does not answer. It may be off, or a firewall may drop packets to port \(port). "
                + "Ask the administrator of the machine."
        case (.connectTimedOut, .proxy):
            "The proxy does not answer, or it cannot reach the broker. "
                + "Ask the proxy's administrator, or try without --proxy."
        case (.hostNotFound, .proxy), (.nameResolutionFailed, .proxy):
            "Correct the host name of the proxy (--proxy), or the host name of the broker (-h)."
        case (.unreachable, _): "The destination network cannot be reached. Check this machine's network or VPN."
        case (.socketNotFound, _): "Correct the path, or start the broker."
        case (.permissionDenied, .socket):
            "The operating system does not allow the connection. Check the permissions of the socket."
        case (.permissionDenied, _):
            "The operating system does not allow the connection. Check this machine's firewall."
        case (.proxyFailed, _), (.proxyRefused, _):
            "The proxy refuses the connection. Ask the proxy's administrator, or try without --proxy."
        case (.proxyAuthenticationFailed, _):
            "Give the proxy's user name and password: --proxy scheme://user:password@host."
        case (_, .socket): "Check the log of the program that listens on the socket."
        case (_, .proxy): "Check the network between this machine and the proxy."
        case (_, .tcp): "Check the network between this machine and the broker."
        }
    }

    /// Returns advice for a failed TLS handshake or a wrong TLS configuration.
    static func insecure(_ code: TransportError.Code, host: String) -> String {
        switch code {
        case .tlsCertificateExpired: "The broker's certificate must be renewed by the broker's administrator."
        case .tlsCertificateNotYetValid:
            "Correct this machine's clock. If the clock is right, ask the broker's administrator."
        case .tlsHostNameMismatch:
            "Connect to a host name that the certificate contains, or get a certificate for \(host)."
        case .tlsUnknownAuthority:
            "If the broker uses its own certificate authority, give the authority's certificate with --cafile. "
                + "If the broker uses a public authority, the broker perhaps sends no intermediate certificates. "
                + "The broker's administrator must then add the intermediate certificates."
        case .tlsCertificateRejected, .tlsPinMismatch:
            "Ask the broker's administrator which authority signed the broker's certificate."
        case .tlsProtocolVersion:
            "The broker must support TLS 1.2 or later. If you set --tls-version, try without this option."
        case .tlsNotSpoken, .closedDuringHandshake:
            "This is probably a port without TLS. Try the TLS port, which is often 8883, or use --no-tls."
        case .tlsClientCertificateRequired: "Give a client certificate with --cert and --key."
        case .tlsClientCertificateRejected:
            "Give a client certificate that was issued by an authority that the broker trusts."
        case .tlsNoCommonProtocol: "Correct or remove the option --tls-alpn."
        case .badCertificateFile, .badPrivateKeyFile, .wrongPassPhrase, .keyMismatch, .invalidConfiguration:
            "Check the files of the options --cafile, --capath, --cert and --key."
        default: "Ask the broker's administrator for the broker's log."
        }
    }

    /// Returns advice for a refused CONNECT.
    static func refused(_ code: PacketReasonCode) -> String {
        switch code {
        case .badUserNameOrPassword: "Correct the user name (-u) and the password (-P)."
        case .notAuthorized:
            "Use a user name (-u) and a password (-P) that the broker accepts, or ask the broker's administrator."
        case .clientIdentifierNotValid: "Use a client id (-i) that the broker allows."
        case .banned: "Ask the broker's administrator why this client is banned."
        case .serverUnavailable, .serverBusy, .connectionRateExceeded, .quotaExceeded: "Try again later."
        case .useAnotherServer, .serverMoved: "Connect to the server that the broker names."
        default: "Ask the broker's administrator for the broker's log."
        }
    }

    /// True if the broker refused the connection because of the client's identity or credentials.
    static func isAboutAccess(_ code: PacketReasonCode) -> Bool {
        [.badUserNameOrPassword, .notAuthorized, .clientIdentifierNotValid, .banned].contains(code)
    }
}
