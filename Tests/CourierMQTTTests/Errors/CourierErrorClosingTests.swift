import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

@Suite struct CourierErrorClosingTests {
    private static let broker = "mqtt://broker.example:1883"
    private static let newOnes = "The credentials were refused; the client asks the auth provider for new credentials."

    struct Row: Sendable, CustomTestStringConvertible {
        let reason: CloseReason
        let code: CourierError.Code
        let parts: [String]
        var testDescription: String { "\(code) \(parts)" }

        init(_ reason: CloseReason, _ code: CourierError.Code, _ parts: String...) {
            self.reason = reason
            self.code = code
            self.parts = parts
        }
    }

    private static func refused(_ code: PacketReasonCode, _ properties: PacketProperties = []) -> CloseReason {
        .refused(ConnAck(reasonCode: code, properties: properties))
    }

    private static func ended(_ code: PacketReasonCode, _ properties: PacketProperties = []) -> CloseReason {
        .disconnectedByServer(Disconnect(reasonCode: code, properties: properties))
    }

    /// The reason code that the broker sent.
    private static func code(of reason: CloseReason) -> ReasonCode? {
        switch reason {
        case .refused(let connAck): ReasonCode(connAck.reasonCode)
        case .disconnectedByServer(let disconnect): ReasonCode(disconnect.reasonCode)
        default: nil
        }
    }

    private static func decodeError(_ bytes: [UInt8], _ limit: Int = 1_000) -> DecodeError? {
        let decoder = PacketDecoder(
            version: .v5, sender: .server, limits: PacketDecoder.Limits(maximumPacketSize: limit))
        do throws(DecodeError) {
            guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes) else { return nil }
            _ = try decoder.packet(frame, in: bytes.span.bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        Row(refused(.badUserNameOrPassword), .notAuthorized, "Bad User Name or Password (0x86)", newOnes),
        Row(refused(.notAuthorized, [.reasonString("no\nway")]), .notAuthorized, "(0x87), \"no\\nway\". \(newOnes)"),
        Row(refused(.badAuthenticationMethod), .notAuthorized, "(0x8C)"),
        Row(refused(.banned), .connectionRefused, "Banned (0x8A)"),
        Row(refused(.clientIdentifierNotValid), .connectionRefused, "1 to 23 letters"),
        Row(refused(.serverBusy), .connectionRefused, "Try again later."),
        Row(refused(.serverMoved, [.serverReference("b.example")]), .connectionRefused, "names \"b.example\""),
        Row(.versionNotSupported(next: .v311), .connectionRefused, "3.1.1"),
        Row(.connectTimeout, .timedOut, "connection request"),
        Row(ended(.sessionTakenOver), .sessionTakenOver, "client id"),
        Row(ended(.notAuthorized), .notAuthorized, "Not authorized (0x87). \(newOnes)"),
        Row(ended(.serverShuttingDown), .disconnectedByServer, "Server shutting down (0x8B)"),
        Row(ended(.success), .disconnectedByServer, "Normal disconnection (0x00)"),
        Row(ended(.keepAliveTimeout, [.reasonString("late")]), .disconnectedByServer, "\"late\"", "keepAlive"),
        Row(.protocolError(.receiveMaximumExceeded), .protocolViolation, "receive maximum"),
        Row(.protocolError(.packetBeforeConnAck(.publish)), .protocolViolation, "PUBLISH before CONNACK"),
        Row(.protocolError(.wrongResultCount(.subAck, expected: 2, actual: 1)), .protocolViolation, "1 results for 2"),
        Row(.protocolError(.wrongAcknowledgement(.pubRec, 9)), .protocolViolation, "PUBREC for packet id 9"),
        Row(.protocolError(.unknownTopicAlias(3)), .protocolViolation, "alias 3"),
        Row(.protocolError(.topicAliasTooHigh(4)), .protocolViolation, "alias 4"),
        Row(.protocolError(.unexpectedPacket(.connAck)), .protocolViolation, "CONNACK"),
        Row(.protocolError(.sessionAfterCleanStart), .protocolViolation, "clean"),
        Row(.protocolError(.clientIDAssigned), .protocolViolation, "assigned a client id"),
        Row(.protocolError(.maximumPacketSizeTooSmall(3)), .protocolViolation, "3 bytes (its maximum packet size)"),
        Row(.protocolError(.unexpectedAuthentication), .protocolViolation, "AUTH"),
        Row(.protocolError(.wrongAuthenticationMethod), .protocolViolation, "another authentication method"),
        Row(.protocolError(.answersUnread(waitingByteCount: 9)), .protocolViolation, "does not read", "9 bytes"),
        Row(.pingTimeout, .timedOut, "ping"),
        Row(
            .acknowledgementTimeout(OverduePacket(.publish, 7, timeout: .seconds(60))), .timedOut,
            "did not acknowledge PUBLISH with packet id 7 within 60.0 seconds (`session.acknowledgementTimeout`)"),
    ])
    func `the error of a closed connection has a matching code and names the cause and the broker`(_ row: Row) throws {
        for channel in [ChannelCloseReason.closedByOwner, .closedByPeer] {
            let error = try #require(
                CourierError(closing: row.reason, channel, endpoint: Self.broker, isEstablished: true))
            #expect(error.code == row.code)
            for part in row.parts + [Self.broker] { #expect(error.message.contains(part), "\(error.message)") }
            #expect(error.reasonCode == Self.code(of: row.reason))
            #expect(error.message.hasSuffix(".") || error.message.hasSuffix("?"), "\(error.message)")
        }
    }

    @Test(arguments: [
        (refused(.badUserNameOrPassword), "Get new credentials, or correct them."),
        (
            refused(.notAuthorized),
            "Check the user name and the password, or ask the broker's administrator for the permission."
        ),
        (
            ended(.notAuthorized),
            "Check the user name and the password, or ask the broker's administrator for the permission."
        ),
    ])
    func `without an auth provider, an authorization error tells how to correct the credentials`(
        _ reason: CloseReason, _ remedy: String
    ) throws {
        let error = try #require(
            CourierError(
                closing: reason, .closedByOwner, endpoint: Self.broker, isEstablished: true, areOptionsFixed: true))
        #expect(error.message.hasSuffix(" \(remedy)"))
        #expect(!error.message.contains("provider"))
    }

    @Test(arguments: [ended(.badUserNameOrPassword), refused(.badAuthenticationMethod), ended(.administrativeAction)])
    func `an error mentions the provider only if the client requests new credentials`(_ reason: CloseReason) throws {
        let error = try #require(
            CourierError(closing: reason, .closedByOwner, endpoint: Self.broker, isEstablished: true))
        #expect(!error.message.contains("provider"))
    }

    @Test func `an error suggests TLS if the broker closes a plain connection before CONNACK`() throws {
        let reset = ChannelCloseReason.failed(TransportError(.reset, "connection reset: \(Self.broker)"))
        for (reason, channel) in [
            (CloseReason.versionNotSupported(next: .v311), ChannelCloseReason.closedByPeer),
            (.versionNotSupported(next: .v311), reset), (.transportClosed, reset),
        ] {
            for isPlain in [true, false] {
                let error = try #require(
                    CourierError(
                        closing: reason, channel, endpoint: Self.broker, isEstablished: false, isPlain: isPlain))
                #expect(error.message.contains("TLS") == isPlain, "\(error.message)")
                #expect(error.message.contains("8883") == isPlain, "\(error.message)")
                #expect(error.code == (reason == .transportClosed ? .connectionFailed : .connectionRefused))
            }
        }
        let answered = CourierError(
            closing: .versionNotSupported(next: .v311), .closedByOwner, endpoint: Self.broker, isEstablished: false,
            isPlain: true)
        #expect(answered?.message.contains("TLS") == false)
        let lost = CourierError(
            closing: .transportClosed, reset, endpoint: Self.broker, isEstablished: true, isPlain: true)
        #expect(lost?.message == "connection reset: \(Self.broker)")
    }

    private static let schemes: [(String?, UInt16, Bool)] = [
        (nil, 1883, true), ("mqtt", 8883, true), ("tcp", 1883, true), (nil, 8883, false), ("tls", 1883, false),
        ("ws", 80, false), ("wss", 443, false), ("unix", 1883, false), ("nonsense", 1883, false),
    ]

    @Test(arguments: schemes)
    func `without TLS settings, the scheme and the port decide whether a connection is plain TCP`(
        _ scheme: String?, _ port: UInt16, _ isPlain: Bool
    ) {
        let options = ConnectOptions(
            host: "broker.example", port: port, clientId: "a", username: "", password: "", scheme: scheme)
        var configuration = SupervisorConfiguration()
        #expect(!configuration.isPlain(options))
        configuration.isTLSUpToOptions = true
        #expect(configuration.isPlain(options) == isPlain)
    }

    @Test func `an attempt to port 1883 counts as plain TCP unless the client has TLS settings`() throws {
        let options = ConnectOptions(host: "broker.example", port: 1883, clientId: "a", username: "", password: "")
        var config = MQTTClientConfig(options: options)
        #expect(try SupervisorConfiguration(config).isPlain(options))
        config.tls = TLSClientConfiguration()
        #expect(try !SupervisorConfiguration(config).isPlain(options))
    }

    @Test func `a disconnect that the app requested is not an error`() {
        let failure = ChannelCloseReason.failed(TransportError(.reset, "connection reset: a:1"))
        for channel in [ChannelCloseReason.closedByOwner, .closedByPeer, failure] {
            #expect(CourierError(closing: .requested, channel, endpoint: "a", isEstablished: true) == nil)
        }
    }

    /// The reason codes that match the return codes of MQTT 3.1.1, by their number.
    private static let returnCodes: [ReasonCode?] = [
        nil, .unsupportedProtocolVersion, .clientIdentifierNotValid, .serverUnavailable, .badUserNameOrPassword,
        .notAuthorized,
    ]

    @Test func `invalid bytes, an oversized packet and a refusal of MQTT 3 are reported as different errors`() throws {
        func error(_ bytes: [UInt8], limit: Int = 1_000) throws -> CourierError {
            let cause = try #require(Self.decodeError(bytes, limit))
            let reason = CloseReason.malformedPacket(cause)
            let error = CourierError(
                closing: reason, .closedByOwner, endpoint: Self.broker, isEstablished: false)
            return try #require(error)
        }
        let garbage = try error(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(garbage.code == .malformedPacket)
        #expect(garbage.message.contains("port"))
        let large = try error([0x30, 0x80, 0x80, 0x01], limit: 999)
        #expect(large.code == .malformedPacket)
        #expect(
            large.message.contains("999") && large.message.contains("Raise MQTTClientConfig.limits.maximumPacketSize"))
        for code in UInt8(1)...5 {
            let refusal = try error([0x20, 2, 0, code])
            #expect(refusal.code == (code >= 4 ? .notAuthorized : .connectionRefused))
            #expect(refusal.message.contains("return code \(code)"))
            #expect(refusal.reasonCode == Self.returnCodes[Int(code)])
            #expect(refusal.cause is DecodeError)
        }
    }

    @Test func `a CONNECT that cannot be encoded is reported as invalidConfiguration`() throws {
        var buffer = PacketBuffer()
        let connect = Connect(version: .v311, clientID: "", isCleanStart: false)
        do throws(EncodeError) {
            try PacketEncoder(version: .v311, sender: .client).encode(.connect(connect), into: &buffer)
            Issue.record("an empty client id was written")
        } catch {
            let error = CourierError(
                closing: .malformedConnect(error), .closedByOwner, endpoint: Self.broker, isEstablished: false)
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("client identifier") == true)
        }
    }

    // MARK: The way to the broker

    @Test(arguments: [
        (TransportError.Code.connectionRefused, CourierError.Code.connectionFailed, CourierError.Code.connectionFailed),
        (.nameResolutionFailed, .connectionFailed, .connectionFailed),
        (.unreachable, .connectionFailed, .connectionFailed),
        (.permissionDenied, .connectionFailed, .connectionFailed),
        (.socketNotFound, .connectionFailed, .connectionFailed),
        (.tooManyDescriptors, .connectionFailed, .connectionFailed),
        (.connectTimedOut, .timedOut, .timedOut), (.invalidConfiguration, .invalidConfiguration, .invalidConfiguration),
        (.badCertificateFile, .invalidConfiguration, .invalidConfiguration),
        (.badPrivateKeyFile, .invalidConfiguration, .invalidConfiguration),
        (.wrongPassPhrase, .invalidConfiguration, .invalidConfiguration),
        (.keyMismatch, .invalidConfiguration, .invalidConfiguration),
        (.invalidDescriptor, .invalidConfiguration, .invalidConfiguration),
        (.tlsUnknownAuthority, .secureConnectionFailed, .secureConnectionFailed),
        (.tlsHostNameMismatch, .secureConnectionFailed, .secureConnectionFailed),
        (.tlsCertificateExpired, .secureConnectionFailed, .secureConnectionFailed),
        (.tlsPinMismatch, .secureConnectionFailed, .secureConnectionFailed),
        (.tlsNotSpoken, .secureConnectionFailed, .secureConnectionFailed),
        (.tlsClientCertificateRequired, .secureConnectionFailed, .secureConnectionFailed),
        (.closedDuringHandshake, .secureConnectionFailed, .secureConnectionFailed),
        (.tlsAlert, .secureConnectionFailed, .connectionLost), (.reset, .connectionFailed, .connectionLost),
        (.timedOut, .connectionFailed, .connectionLost), (.brokenPipe, .connectionFailed, .connectionLost),
        (.truncated, .connectionFailed, .connectionLost), (.loopShutDown, .connectionFailed, .connectionLost),
        (.answersUnread, .protocolViolation, .protocolViolation),
        (.remainderTooLong, .connectionFailed, .connectionLost), (.systemFailure, .connectionFailed, .connectionLost),
    ])
    func `a transport error has different error codes before and after CONNACK, but the same error message`(
        _ code: TransportError.Code, _ before: CourierError.Code, _ after: CourierError.Code
    ) throws {
        let cause = TransportError(code, "connection refused: 127.0.0.1:1883; is the server running there?", errno: 111)
        for (isEstablished, expected) in [(false, before), (true, after)] {
            let error = try #require(
                CourierError(
                    closing: .transportClosed, .failed(cause), endpoint: Self.broker, isEstablished: isEstablished))
            #expect(error.code == expected)
            let property = code == .tlsUnknownAuthority ? ", the property `trust` of `config.tls`" : ""
            #expect(error.message == cause.message + property)
            #expect(error.cause as? TransportError == cause)
        }
        #expect(CourierError(cause).code == before)
    }

    @Test(arguments: [
        (ChannelCloseReason.closedByPeer, false, CourierError.Code.connectionFailed, "before it answered"),
        (.closedByPeer, true, .connectionLost, "without a reason"),
        (.closedByOwner, false, .connectionFailed, "This client ended"),
        (.closedByOwner, true, .connectionLost, "This client ended"),
    ])
    func `a close without a reason is connectionFailed before CONNACK and connectionLost after CONNACK`(
        _ channel: ChannelCloseReason, _ isEstablished: Bool, _ code: CourierError.Code, _ part: String
    ) throws {
        let error = try #require(
            CourierError(
                closing: .transportClosed, channel, endpoint: Self.broker, isEstablished: isEstablished))
        #expect(error.code == code)
        #expect(error.message.contains(part) && error.message.contains(Self.broker))
    }
}
