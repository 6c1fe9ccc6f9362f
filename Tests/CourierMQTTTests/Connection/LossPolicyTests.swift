import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// Checks the LossPolicy table: its rows, the behavior of the supervisor, and the documentation.
@Suite struct LossPolicyTests {
    @Test func `each loss cause is in at most one row of the LossPolicy table`() {
        var seen: Set<LossCause> = []
        for cause in LossPolicy.rows.flatMap(\.causes) { #expect(seen.insert(cause).inserted, "\(cause)") }
        #expect(LossPolicy.rows.last?.causes == [], "the last row is for the rest")
        #expect(Set(LossPolicy.rows.map(\.response)) == Set(LossPolicy.Response.allCases))
        for problem in LossCause.TransportProblem.allCases { #expect(seen.contains(.transport(problem))) }
    }

    /// Checks every code that a server may send in CONNACK or DISCONNECT (MQTT 5.0, tables 3-1 and 3-10).
    @Test func `each failure code of CONNACK and each code of DISCONNECT is in exactly one LossPolicy row`() throws {
        for code in PacketReasonCode.allCases {
            for packet in [
                Packet.connAck(ConnAck(reasonCode: code)), .disconnect(Disconnect(reasonCode: code)),
            ] {
                var buffer = PacketBuffer()
                guard (try? PacketEncoder(version: .v5, sender: .server).encode(packet, into: &buffer)) != nil else {
                    continue
                }
                switch packet {
                case .connAck: if code.isFailure { #expect(rowCount(.refused(code)) == 1, "CONNACK \(code)") }
                default: #expect(rowCount(.disconnected(code)) == 1, "DISCONNECT \(code)")
                }
            }
        }
    }

    private func rowCount(_ cause: LossCause) -> Int { LossPolicy.rows.count { $0.causes.contains(cause) } }

    /// The expected response to each cause, written by hand. Reason codes with the response `retry` are omitted.
    private static let expected: [LossCause: LossPolicy.Response] = [
        .transport(.configuration): .stop, .transport(.clientCertificateMissing): .stop,
        .transport(.loopEnded): .stop, .transport(.unreachable): .retry, .transport(.broken): .retry,
        .transport(.unknownHost): .retry, .transport(.tls): .retry, .transport(.untrustedCertificate): .retry,
        .unusableOptions: .stop, .unreadableStore: .retry, .otherVersion: .switchVersion, .malformedPacket: .retry,
        .protocolViolation: .retry, .acknowledgementTimeout: .retry, .connectTimeout: .retry, .closedByServer: .retry,
        .closedHere: .retry, .silence: .retryAtOnce, .repeatedDrops: .yield,
        .refused(.badUserNameOrPassword): .renewCredentials, .refused(.notAuthorized): .renewCredentials,
        .disconnected(.notAuthorized): .renewCredentials,
        .refused(.useAnotherServer): .followOnce, .disconnected(.useAnotherServer): .followOnce,
        .refused(.serverMoved): .followForGood, .disconnected(.serverMoved): .followForGood,
        .disconnected(.sessionTakenOver): .yield,
        .refused(.unsupportedProtocolVersion): .stop, .refused(.clientIdentifierNotValid): .stop,
        .refused(.banned): .stop, .refused(.badAuthenticationMethod): .stop,
        .disconnected(.badAuthenticationMethod): .stop, .refused(.topicNameInvalid): .stop,
        .refused(.payloadFormatInvalid): .stop, .refused(.retainNotSupported): .stop,
        .refused(.qosNotSupported): .stop, .refused(.packetTooLarge): .stop,
        .disconnected(.keepAliveTimeout): .retryAtOnce, .disconnected(.maximumConnectTime): .retryAtOnce,
    ]

    @Test func `LossPolicy returns the expected response to each loss cause`() {
        for (cause, response) in Self.expected {
            #expect(LossPolicy.row(for: cause).response == response, "\(cause)")
        }
        for cause in LossPolicy.rows.flatMap(\.causes) where Self.expected[cause] == nil {
            #expect(LossPolicy.row(for: cause).response == .retry, "\(cause)")
        }
        for problem in LossCause.TransportProblem.allCases {
            #expect(Self.expected[.transport(problem)] != nil, "\(problem) has no expectation")
        }
    }

    /// An ending that the supervisor assigns to `cause`.
    private func ending(_ cause: LossCause) -> (CloseReason, ChannelCloseReason)? {
        switch cause {
        case .refused(let code): (.refused(ConnAck(reasonCode: code)), .closedByOwner)
        case .disconnected(let code): (.disconnectedByServer(Disconnect(reasonCode: code)), .closedByOwner)
        case .otherVersion: (.versionNotSupported(next: .v311), .closedByPeer)
        case .malformedPacket: decodeError.map { (.malformedPacket($0), .closedByOwner) }
        case .unusableOptions: encodeError.map { (.malformedConnect($0), .closedByOwner) }
        case .protocolViolation: (.protocolError(.unexpectedPacket(.connAck)), .closedByOwner)
        case .connectTimeout: (.connectTimeout, .closedByOwner)
        case .silence: (.pingTimeout, .closedByOwner)
        case .acknowledgementTimeout:
            (.acknowledgementTimeout(OverduePacket(.publish, 1, timeout: .seconds(60))), .closedByOwner)
        case .closedByServer: (.transportClosed, .closedByPeer)
        case .closedHere: (.requested, .closedByOwner)
        case .unreadableStore: nil  // This cause has no connection; ScriptedOutboxTests tests it.
        case .repeatedDrops: nil  // This cause needs three endings; ConnectionSupervisorTests tests it.
        case .transport(let problem):
            (.transportClosed, .failed(TransportError(Self.code(of: problem), "as the transport says it")))
        }
    }

    private static func code(of problem: LossCause.TransportProblem) -> TransportError.Code {
        switch problem {
        case .configuration: .badCertificateFile
        case .unreachable: .nameResolutionFailed
        case .unknownHost: .hostNotFound
        case .tls: .tlsNotSpoken
        case .untrustedCertificate: .tlsUnknownAuthority
        case .clientCertificateMissing: .tlsClientCertificateRequired
        case .broken: .reset
        case .loopEnded: .loopShutDown
        }
    }

    private var encodeError: EncodeError? {
        do throws(EncodeError) {
            var buffer = PacketBuffer()
            let connect = Connect(version: .v311, clientID: String(repeating: "x", count: 70_000))
            try PacketEncoder(version: .v311, sender: .client).encode(.connect(connect), into: &buffer)
            return nil
        } catch { return error }
    }

    private var decodeError: DecodeError? {
        do throws(DecodeError) {
            let bytes: [UInt8] = [0x00, 0x00]
            _ = try PacketDecoder(version: .v5, sender: .server).nextFrame(in: bytes.span.bytes, at: 0)
            return nil
        } catch { return error }
    }

    @Test(arguments: LossPolicy.rows.flatMap(\.causes).filter { ![.repeatedDrops, .unreadableStore].contains($0) })
    func `the supervisor responds to each loss cause as the LossPolicy table says`(_ cause: LossCause) throws {
        let (reason, transport) = try #require(ending(cause))
        let wasConnected = if case .disconnected = cause { true } else { cause == .silence }
        let known = ConnectionEnding(reason, transport, endpoint: "broker:1883", isEstablished: wasConnected)
        #expect(known.cause == cause)

        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "test"))
        world.grant()
        if wasConnected { world.accept() }
        let opened = world.lastAttempt
        let actions = world.handle(.closed(reason, transport))

        let isEndReported = actions.contains {
            switch $0 {
            case .emit(.failed(_, .error)): !wasConnected
            case .emit(.lost(_, .error, _, _)): wasConnected
            default: false
            }
        }
        #expect(isEndReported)
        let isAtOnce = world.lastAttempt != opened
        switch LossPolicy.row(for: cause).response {
        case .retry, .followOnce:
            #expect(world.deadline == 1 && !isAtOnce)
        case .retryAtOnce, .switchVersion:
            #expect(isAtOnce && world.isOpen)
        case .renewCredentials, .followForGood:
            let clearing = actions.firstIndex(of: .clearCredentials)
            let asking = actions.firstIndex(of: .fetchCredentials(world.lastAttempt))
            #expect(try #require(clearing) < #require(asking))
        case .yield:
            #expect(world.deadline == 60)
            #expect(world.releases.count == 2)
        case .stop:
            #expect(world.deadline == nil && world.supervisor.state == .disconnected)
            let told = try #require(world.releases.last ?? nil)
            #expect(world.supervisor.waiterAnswer == .failed(told))
            #expect("\(told)".contains(LossPolicy.row(for: cause).reason))
            world.handle(.networkChanged(.unavailable))
            world.handle(.networkChanged(.available))
            #expect(world.fetch == nil && !world.isOpen, "only connect() begins again")
            #expect(world.handle(.connectRequested(source: "app")).contains(.emit(.authStarted)) == true)
        }
        world.expectNoFaults()
    }

    @Test func `after DISCONNECT keepAliveTimeout, only the first reconnect has no pause`() {
        var world = SupervisorHarness()
        world.connect()
        for _ in 0..<3 {
            world.wait(10)
            world.disconnectedByServer(.keepAliveTimeout)
            #expect(world.isOpen)
            world.accept()
            world.disconnectedByServer(.keepAliveTimeout)
            #expect(world.deadline == world.time + 2)
            world.fireTimer()
            world.accept()
        }
        world.expectNoFaults()
    }

    @Test func `after connect(), the first loss leads to a reconnect at once, the second after 2 s`() {
        var world = SupervisorHarness()
        for _ in 0..<2 {
            world.connect()
            world.wait(1)
            world.disconnectedByServer(.keepAliveTimeout)
            #expect(world.isOpen)
            world.accept()
            world.disconnectedByServer(.keepAliveTimeout)
            #expect(world.deadline == world.time + 2)
            world.handle(.disconnectRequested)
            #expect(world.deadline == nil)
        }
        world.expectNoFaults()
    }

    @Test func `if renewed credentials are refused again, the provider is asked after the reconnect pause`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.refuse(.notAuthorized)
        var pauses: [Double] = []
        for _ in 0..<4 {
            world.grant()
            let refusedAt = world.time
            world.refuse(.badUserNameOrPassword)
            pauses.append((world.deadline ?? 0) - refusedAt)
            world.fireTimer()
        }
        #expect(pauses == [2, 4, 8, 16])
        world.expectNoFaults()
    }

    @Test(arguments: [false, true])
    func `refused fixed connect options are retried only after the reconnect pause`(_ isConnected: Bool) {
        var world = SupervisorHarness { $0.areOptionsFixed = true }
        world.handle(.connectRequested(source: "app"))
        world.grant()
        var pauses: [Double] = []
        for _ in 0..<4 {
            if isConnected { world.accept() }
            let refusedAt = world.time
            if isConnected {
                world.disconnectedByServer(.notAuthorized)
            } else {
                world.refuse(.badUserNameOrPassword)
            }
            #expect(world.fetch == nil && (world.supervisor.waiterAnswer == .wait) == isConnected)
            pauses.append((world.deadline ?? 0) - refusedAt)
            world.fireTimer()
            world.grant()
        }
        #expect(pauses == [1, 2, 4, 8])
        world.expectNoFaults()
    }

    @Test func `DISCONNECT notAuthorized on a live connection renews the credentials at once`() {
        var world = SupervisorHarness()
        world.connect()
        world.wait(60)
        #expect(world.disconnectedByServer(.notAuthorized).contains(.clearCredentials) == true)
        #expect(world.fetch != nil)
        world.expectNoFaults()
    }

    // MARK: Server references

    private func host(_ world: SupervisorHarness) -> String? { world.info.map { "\($0.host):\($0.port)" } }

    @Test func `a useAnotherServer redirect applies to one connection`() {
        var world = SupervisorHarness()
        world.connect()
        world.disconnectedByServer(.useAnotherServer, [.serverReference("other:8883 third")])
        #expect(world.isOpen)
        #expect(host(world) == "other:8883")
        world.accept()
        world.wait(20)
        world.drop()
        world.fireTimer()
        #expect(host(world) == "broker:1883")
        world.expectNoFaults()
    }

    @Test func `an attempt that is restarted because the machine slept still uses the one-time redirect`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.refuse(.useAnotherServer, [.serverReference("other")])
        #expect(host(world) == "other:1883")
        var cancelled = world
        world.wait(6)
        #expect(world.handle(.resumedFromSuspend).contains(.abort))
        var ended = world
        world.closeEnds()
        #expect(world.attemptTimes == [0, 0, 6])
        #expect(host(world) == "other:1883")
        world.accept()
        world.wait(20)
        world.drop()
        world.fireTimer()
        #expect(host(world) == "broker:1883")
        world.expectNoFaults()

        func reconnect(_ world: inout SupervisorHarness) {
            world.handle(.disconnectRequested)
            world.closeEnds()
            world.handle(.connectRequested(source: "app"))
            world.grant()
            #expect(host(world) == "broker:1883", "what the app ended is over")
            world.expectNoFaults()
        }
        reconnect(&cancelled)
        reconnect(&ended)
    }

    @Test func `a serverMoved redirect applies to all connections until the new server is unreachable`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.refuse(.serverMoved, [.serverReference("[2001:db8::7]:1884")])
        #expect(host(world) == "2001:db8::7:1884")
        for _ in 0..<2 {
            world.accept()
            world.wait(20)
            world.drop()
            world.fireTimer()
            #expect(host(world) == "2001:db8::7:1884")
        }
        world.drop()
        world.fireTimer()
        #expect(host(world) == "broker:1883")
        world.expectNoFaults()
    }

    @Test func `the client follows at most three redirects in a row`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        for index in 1...3 {
            world.refuse(.useAnotherServer, [.serverReference("b\(index)")])
            #expect(host(world) == "b\(index):1883")
        }
        world.refuse(.useAnotherServer, [.serverReference("b4")])
        #expect(world.deadline == 1)
        world.fireTimer()
        #expect(host(world) == "broker:1883")
        world.expectNoFaults()
    }

    @Test func `an invalid or disallowed server reference is handled as an ordinary refusal`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.refuse(.useAnotherServer, [.serverReference("http://evil/ x:0 :")])
        #expect(world.deadline == 1)
        var other = SupervisorHarness { $0.redirects.allowedHosts = [:] }
        other.handle(.connectRequested(source: "app"))
        other.grant()
        other.refuse(.useAnotherServer, [.serverReference("other")])
        #expect(other.deadline == 1)
        world.expectNoFaults()
    }

    // MARK: Documentation

    @Test func `the events page of the docs shows the LossPolicy table`() throws {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "../../../docs/reference/events.md").standardized
        let documentation = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(documentation.split(separator: "## What follows a loss").last)
        let table = section.split(separator: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| ") }
        #expect(table.dropFirst().map(String.init) == LossPolicy.rows.map(Self.line))
    }

    private static func line(of row: LossPolicy.Row) -> String {
        let causes = row.causes.isEmpty ? "any other" : row.causes.map(words).joined(separator: ", ")
        return "| \(causes) | `\(row.response)` | \(row.reason) |"
    }

    private static func words(_ cause: LossCause) -> String {
        func code(_ code: PacketReasonCode) -> String { "0x" + String(code.rawValue, radix: 16, uppercase: true) }
        return switch cause {
        case .refused(let refusal): "CONNACK \(code(refusal))"
        case .disconnected(.success): "DISCONNECT 0x00"
        case .disconnected(let reason): "DISCONNECT \(code(reason))"
        case .otherVersion: "version refused, another is left"
        case .unusableOptions: "options that can not be used"
        case .unreadableStore: "message store can not be read"
        case .malformedPacket: "malformed packet"
        case .protocolViolation: "protocol error"
        case .connectTimeout: "no CONNACK in time"
        case .silence: "no answer to a ping or probe"
        case .acknowledgementTimeout: "no acknowledgement in time"
        case .closedByServer: "closed by the broker"
        case .repeatedDrops: "3.1.1: dropped 3 times in a row within 5 s of CONNACK, or 6 times within 15 s"
        case .closedHere: "closed on this side"
        case .transport(let problem):
            switch problem {
            case .configuration: "transport: configuration"
            case .unreachable: "transport: not reachable"
            case .unknownHost: "transport: unknown host name"
            case .tls: "transport: TLS"
            case .untrustedCertificate: "transport: certificate not accepted"
            case .clientCertificateMissing: "transport: client certificate wanted"
            case .broken: "transport: broken"
            case .loopEnded: "transport: loop ended"
            }
        }
    }
}
