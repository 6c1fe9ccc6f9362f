import CommandArguments
import CourierCore
import CourierMQTT
import CourierTransport
import Foundation
import MQTTCodec
import Synchronization

/// Runs the checks of the doctor one after the other. It stops when a failed check makes the next checks useless.
///
/// The calling thread is blocked during network operations.
struct Examination {
    /// The keep-alive that the CONNECT requests. The report compares it with the broker's value.
    private static let askedKeepAlive: UInt16 = 60
    private static let askedSessionExpiry: UInt32 = 86_400

    /// All results.
    struct Record {
        var findings: [Finding] = []
        var limits: AnnouncedLimits?
        var roundTrips: [Duration] = []
        /// The certificates of the broker, or `nil` if the broker sent none.
        var certificates: CertificateReview?

        /// The first check that failed.
        var problem: Finding? { findings.first { $0.state == .problem } }
    }

    private let arguments: DoctorArguments
    private let address: BrokerAddress
    private let loop: EventLoop
    private let clientID: String
    private let told: (Finding) -> Void
    /// The certificates of the last handshake in which the broker sent any.
    private let chain = ChainBox()
    private var record = Record()

    /// Prepares the checks. `told` is called with each finding as soon as its check has ended.
    init(_ arguments: DoctorArguments, told: @escaping (Finding) -> Void) throws(TransportError) {
        self.arguments = arguments
        self.told = told
        var address = BrokerAddress(arguments.connection)
        address.tls?.peerChainSeen = { [chain] shown in chain.value.withLock { $0 = shown } }
        self.address = address
        loop = try EventLoop(name: "courier-doctor")
        clientID =
            arguments.connection.clientID ?? "courier-doctor-\(UUID().uuidString.prefix(8).lowercased())"
    }

    /// Runs all checks.
    mutating func run() -> Record {
        defer { loop.shutdownAndWait() }
        guard isReachable(), let context = secureContext(), isSecured(context.tls) else { return record }
        let newer = greet(.v5, context.tls, measures: true)
        let older = greet(.v311, context.tls, measures: newer.connAck?.reasonCode != .success)
        judgeVersions(newer, older)
        return record
    }

    private mutating func note(_ finding: Finding) {
        record.findings.append(finding)
        told(finding)
    }

    private var timeLimit: Duration { .seconds(arguments.timeLimit) }

    private var way: Advice.Way {
        if arguments.connection.unixPath != nil { return .socket }
        return arguments.connection.proxy == nil ? .tcp(port: address.port) : .proxy
    }

    // MARK: Host name and TCP

    private mutating func isReachable() -> Bool {
        guard case .tcp = way else { return opens(address.endpoint, by: address.proxy) }
        var addresses = [address.host]
        if !HostAddresses.isAddress(address.host) {
            let begunAt = ContinuousClock.now
            do throws(TransportError) {
                addresses = try HostAddresses.lookUp(address.host)
                let time = begunAt.duration(to: .now)
                note(
                    .good(.name, "\(address.host) is \(addresses.joined(separator: ", ")) (\(Self.text(time)))"))
            } catch {
                note(
                    .problem(
                        .name, error.message,
                        "Correct the name (-h), or check the DNS server of this machine's network."))
                return false
            }
        }
        let answers = addresses.map { host in
            let place = TransportEndpoint.tcp(host: host, port: address.port)
            return (place, BrokerDialogue.hold(.init(timeLimit: timeLimit), with: place, on: loop))
        }
        let isOneOpen = answers.contains { $0.1.openedAfter != nil }
        for (place, answer) in answers { noteOpening("\(place)", answer, isFatal: !isOneOpen) }
        return isOneOpen
    }

    private mutating func opens(_ endpoint: TransportEndpoint, by proxy: ProxySetting) -> Bool {
        let answer = BrokerDialogue.hold(.init(timeLimit: timeLimit), with: endpoint, proxy: proxy, on: loop)
        noteOpening("\(endpoint)", answer, isFatal: true)
        return answer.openedAfter != nil
    }

    private mutating func noteOpening(_ place: String, _ answer: BrokerDialogue.Answer, isFatal: Bool) {
        if let time = answer.openedAfter { return note(.good(.tcp, "\(place) answers (\(Self.text(time)))")) }
        guard case .transport(let error) = answer.failure else {
            return note(.problem(.tcp, "\(place) closes the connection at once", Advice.unreachable(.reset, by: way)))
        }
        let advice = Advice.unreachable(error.code, by: way)
        note(isFatal ? .problem(.tcp, error.message, advice) : .notice(.tcp, error.message, advice))
    }

    // MARK: TLS

    /// Creates the TLS context. Returns `nil` if the context cannot be created. If the connection uses no TLS, returns
    /// a result whose `tls` is `nil`.
    private mutating func secureContext() -> (tls: TLSContext?, Void)? {
        guard let tls = address.tls else { return (nil, ()) }
        do throws(TransportError) {
            return (try TLSContext(client: tls), ())
        } catch {
            note(.problem(.tls, error.message, Advice.insecure(error.code, host: address.host)))
            return nil
        }
    }

    private mutating func isSecured(_ context: TLSContext?) -> Bool {
        guard let context else {
            if address.password.isEmpty || arguments.connection.unixPath != nil { return true }
            note(
                .notice(
                    .tls, "TLS is not used: the user name and the password are sent unencrypted",
                    "Ask the broker's administrator for a port with TLS, and use --cafile or --tls-use-os-certs."))
            return true
        }
        let answer = BrokerDialogue.hold(
            .init(timeLimit: timeLimit), with: address.endpoint, tls: context, proxy: address.proxy, on: loop)
        record.certificates = chain.value.withLock { $0 }.map {
            CertificateReview(
                chain: $0, host: address.host, warningDays: arguments.expiryDays,
                now: Int64(Date().timeIntervalSince1970))
        }
        let isSecured = noteSecurity(answer)
        for finding in record.certificates?.findings ?? [] { note(finding) }
        return isSecured
    }

    private mutating func noteSecurity(_ answer: BrokerDialogue.Answer) -> Bool {
        switch answer.failure {
        case .transport(let error):
            note(
                record.certificates?.problem(error.code)
                    ?? .problem(.tls, error.message, Advice.insecure(error.code, host: address.host)))
            return false
        case .closed, .silent:
            note(
                .problem(
                    .tls, "the broker ends the connection during the TLS handshake",
                    Advice.insecure(.closedDuringHandshake, host: address.host)))
            return false
        default: break
        }
        guard let security = answer.security else { return false }
        let agreed = "\(security.version), \(security.cipherSuite)"
        if arguments.connection.tls.isInsecure {
            note(
                .notice(
                    .tls,
                    "\(agreed); a trusted authority has signed the certificate; "
                        + "the host name is not checked because of --insecure",
                    "Remove --insecure, and connect to a host name that the certificate contains."))
        } else {
            note(
                .good(
                    .tls,
                    "\(agreed); the certificate is valid for \(address.host), and signed by a trusted authority"))
        }
        return true
    }

    // MARK: MQTT

    private func connect(_ version: ProtocolVersion) -> Connect {
        var connect = address.connect(version, clientID: clientID, keepAlive: Self.askedKeepAlive)
        if version >= .v5 { connect.properties = [.sessionExpiryInterval(Self.askedSessionExpiry)] }
        return connect
    }

    /// Connects with one MQTT version, and records the result.
    private mutating func greet(
        _ version: ProtocolVersion, _ context: TLSContext?, measures: Bool
    ) -> BrokerDialogue.Answer {
        var question = BrokerDialogue.Question(connect: connect(version), timeLimit: timeLimit)
        if measures {
            question.roundTripCount = arguments.roundTripCount
            if arguments.publishes { question.topic = "courier-doctor/\(clientID)" }
        }
        let answer = BrokerDialogue.hold(question, with: address.endpoint, tls: context, proxy: address.proxy, on: loop)
        let check: Finding.Check = version >= .v5 ? .mqtt5 : .mqtt311
        if let connAck = answer.connAck {
            note(greeting(check, connAck))
            if version >= .v5, connAck.reasonCode == .success { noteLimits(connAck) }
            if measures, connAck.reasonCode == .success { noteRoundTrips(answer) }
        } else if answer.failure == .speaksOlderVersion {
            note(.notice(check, "the broker does not support this version"))
        } else {
            // A failed version is only a notice here. It is a problem only if the other version fails too.
            note(.notice(check, failureText(answer.failure ?? .closed)))
        }
        return answer
    }

    private func greeting(_ check: Finding.Check, _ connAck: ConnAck) -> Finding {
        let code = connAck.reasonCode
        if code == .success { return .good(check, "the broker accepts the connection") }
        if code == .unsupportedProtocolVersion {
            return .notice(check, "the broker does not support this version")
        }
        let reason = connAck.properties.reasonString.map { " (\($0))" } ?? ""
        let text = "the broker refuses the connection: \(LinkFailure.name(code))\(reason)"
        return .notice(check, text)
    }

    private func failureText(_ failure: LinkFailure) -> String { failure.text(timeLimit: arguments.timeLimit) }

    /// Decides from the results with MQTT 5 and MQTT 3.1.1 whether the broker can be used.
    private mutating func judgeVersions(_ newer: BrokerDialogue.Answer, _ older: BrokerDialogue.Answer) {
        let codes = [newer, older].compactMap { $0.connAck?.reasonCode }
        if codes.contains(.success) {
            let who = address.username.isEmpty ? "without a user name" : "as \(address.username)"
            return note(.good(.authentication, "connected \(who)"))
        }
        if let code = codes.first(where: Advice.isAboutAccess) {
            let name = LinkFailure.name(code)
            return note(.problem(.authentication, "the broker refuses this client: \(name)", Advice.refused(code)))
        }
        if let code = codes.first(where: { $0 != .unsupportedProtocolVersion }) {
            let name = LinkFailure.name(code)
            return note(.problem(.authentication, "the broker refuses the connection: \(name)", Advice.refused(code)))
        }
        // With TLS 1.3, a missing or refused client certificate is reported only after the handshake. So an error here
        // can still be a TLS problem.
        if case .transport(let error)? = newer.failure, address.tls != nil {
            return note(.problem(.tls, error.message, Advice.insecure(error.code, host: address.host)))
        }
        note(
            .problem(
                .mqtt5, "the server supports neither MQTT 5 nor MQTT 3.1.1",
                address.tls == nil
                    ? "The port may need TLS: add --cafile or --tls-use-os-certs. "
                        + "If the port is not for MQTT, correct the port (-p)."
                    : "Correct the port (-p). Perhaps this port is for HTTPS, or for MQTT over WebSocket."))
    }

    private mutating func noteLimits(_ connAck: ConnAck) {
        let limits = AnnouncedLimits(
            connAck.properties, askedKeepAlive: Self.askedKeepAlive, askedSessionExpiry: Self.askedSessionExpiry)
        record.limits = limits
        for finding in limits.findings(
            askedKeepAlive: Self.askedKeepAlive, askedSessionExpiry: Self.askedSessionExpiry)
        { note(finding) }
    }

    private mutating func noteRoundTrips(_ answer: BrokerDialogue.Answer) {
        record.roundTrips = answer.roundTrips
        let what =
            if !arguments.publishes {
                "pings"
            } else if answer.takesQoS0Only {
                "pings, because the broker accepts no messages of QoS 1"
            } else {
                "messages of QoS 1"
            }
        let sorted = answer.roundTrips.sorted()
        if let least = sorted.first, let most = sorted.last {
            note(
                .good(
                    .roundTrip,
                    "\(sorted.count) \(what): minimum \(Self.text(least)), "
                        + "median \(Self.text(sorted[sorted.count / 2])), maximum \(Self.text(most))"))
        }
        guard let failure = answer.failure else { return }
        let advice =
            if case .messageRefused = failure {
                "The broker accepts this client's connection, but not its messages to this topic. "
                    + "Ask the broker's administrator for the permission to publish."
            } else {
                "The connection was interrupted. Check the network and the broker's log."
            }
        note(.problem(.roundTrip, "after \(sorted.count) \(what): \(failureText(failure))", advice))
    }

    static func text(_ time: Duration) -> String { String(format: "%.1f ms", milliseconds(time)) }

    static func milliseconds(_ time: Duration) -> Double { time / .milliseconds(1) }
}

/// Passes the broker's certificates from the event loop to the calling thread.
private final class ChainBox: Sendable {
    let value = Mutex<TLSPeerChain?>(nil)
}
